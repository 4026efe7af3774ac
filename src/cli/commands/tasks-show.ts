import type { Command } from 'commander'
import pc from 'picocolors'
import { UsageError } from '../../base/errors/index.ts'
import type { Gold, Task } from '../../schema/index.ts'
import { emit, jsonText } from '../output.ts'
import { sanitize } from '../sanitize.ts'
import { addSourceOptions, type SourceOptions, sourceArgument, sourceOf } from './tasks-options.ts'

interface ShowOptions extends SourceOptions {
  program?: boolean
}

export function registerTasksShow(parent: Command): void {
  addSourceOptions(parent.command('show').argument('<source>', sourceArgument), '1')
    .description('show questions and gold answers')
    .option('--program', 'show how a generated task is solved')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa tasks show search --level 4 --program',
        '  $ coa tasks show math -n 3 --split dev',
        '  $ coa tasks show questions.csv --map question=problem,answer=gold --checker math',
      ].join('\n'),
    )
    .action(async (from: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ShowOptions>()
      const { openTasks } = await import('../../tasks/index.ts')
      const tasks: Task[] = []
      for await (const task of openTasks(await sourceOf(from, options))) tasks.push(task)
      if (tasks.length === 0) {
        throw new UsageError(`${from} has no such task`, {
          fix: 'Try other values of --first, --split and --level.',
        })
      }
      emit(options, tasks, () => tasks.map((task) => describe(task, options.program === true)).join('\n\n'))
    })
}

function describe(task: Task, withProgram: boolean): string {
  const { id, level, split, domain, question, gold, meta } = task
  const facts = [domain, split, level === undefined ? undefined : `level ${level}`].filter(
    (fact) => fact !== undefined,
  )
  const program =
    withProgram && meta['program'] !== undefined ? ['', pc.dim(jsonText(meta['program'], 2))] : []
  const head = `${pc.bold(sanitize(id))}  ${pc.dim(sanitize(facts.join(', ')))}`
  return [head, sanitize(question), ...goldLines(gold), ...program].join('\n')
}

function goldLines(gold: Gold): string[] {
  switch (gold.checker) {
    case 'exact':
      return [pc.green(sanitize(gold.answers.join(' | ')))]
    case 'math':
      return [pc.green(sanitize(gold.answer))]
    case 'judge':
      return [`${pc.green(sanitize(gold.answer))} ${pc.dim('(checked by a judge model)')}`]
    case 'none':
      return [pc.dim('no gold answer')]
    case 'code':
      return [
        pc.dim(`${gold.tests.length} hidden tests`),
        ...gold.tests.slice(0, 3).map((test) => pc.green(`  ${sanitize(testLine(test))}`)),
      ]
  }
}

function testLine(test: Extract<Gold, { checker: 'code' }>['tests'][number]): string {
  switch (test.style) {
    case 'assert':
      return test.code.trim().split('\n')[0]!
    case 'stdio':
      return `${JSON.stringify(test.stdin)} → ${JSON.stringify(test.stdout)}`
    case 'functional':
      return `${test.entry}(${test.args.map((argument) => JSON.stringify(argument)).join(', ')}) → ${JSON.stringify(test.expected)}`
  }
}
