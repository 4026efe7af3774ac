import { readFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import type { Gold, Task } from '../../schema/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { settings } from '../globals.ts'
import { readInput } from '../input.ts'
import { emit, mark } from '../output.ts'
import { sanitize } from '../sanitize.ts'
import { type CheckRunOptions, checkAnswersOfRun, forRun } from './check-run.ts'
import { addSourceOptions, sourceArgument, sourceOf } from './tasks-options.ts'

interface CheckOptions extends CheckRunOptions {
  task?: string
  id?: string
  gold?: string
  question?: string
}

export function registerCheck(program: Command): void {
  const command = program
    .command('check')
    .argument(
      '<run or answer>',
      'a run; with --task or --gold an answer: @FILE reads it from a file, - from standard input',
    )
  addSourceOptions(command, '1')
    .description('check the answers of a run, or one answer, against gold answers')
    .option('--task <source>', sourceArgument)
    .option('--id <id>', 'id of the task in the source (default: the task at --first)')
    .addOption(
      new Option('--gold <answer>', 'check against this answer with --checker (default: exact)').conflicts(
        'task',
      ),
    )
    .option('--question <text>', 'the question, for a judge')
    .addOption(
      forRun('--tasks <source>', `gold answers for a run: ${sourceArgument} (default: its own tasks)`),
    )
    .addOption(forRun('--judge', 'the [judge] model decides where there is no gold answer'))
    .addOption(
      forRun('--relative', 'the same, but it compares all attempts at a task with each other').conflicts(
        'judge',
      ),
    )
    .addOption(
      forRun(
        '--min-score <score>',
        'score from 0 to 1 that counts as correct then (default: check.min_score)',
      ),
    )
    .addOption(forRun('--again', 'check answers that have a verdict, too'))
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa check latest --tasks questions.jsonl',
        '  $ coa check latest --relative --min-score 0.7',
        "  $ coa check 0.75 --gold '\\frac{3}{4}' --checker math",
        "  $ coa check 'The Beatles' --gold 'Beatles|The Fab Four'",
        '  $ coa check @solution.py --task code --first 3',
      ].join('\n'),
    )
    .action(async (given: string, _options, command: Command) => {
      const options = command.optsWithGlobals<CheckOptions>()
      if (options.task === undefined && options.gold === undefined)
        return checkAnswersOfRun(given, options, command.getOptionValueSource('number') === 'default')
      const { checkContext } = await import('../../stages/check/index.ts')
      const { gold, question } = options.gold === undefined ? await taskOf(options) : goldOf(options)
      const answer = given === '-' ? readInput('-') : given.startsWith('@') ? readFile(given.slice(1)) : given
      const { checkAnswer, closeAlgebra } = await import('../../reward/index.ts')
      const { context, close } = await checkContext(settings(options).config, new Set([gold.checker]))
      try {
        const verdict = await checkAnswer(gold, answer, {
          ...context,
          ...(question === undefined ? {} : { question }),
        })
        const sign = { correct: mark.good, wrong: mark.bad, undecided: mark.open }[verdict.outcome]
        emit(options, verdict, () => `${sign} ${verdict.outcome}: ${sanitize(verdict.evidence)}`)
        if (verdict.outcome !== 'correct') process.exitCode = exitCodes.findings.code
      } finally {
        await close()
        closeAlgebra()
      }
    })
}

function goldOf({ gold = '', checker = 'exact', question }: CheckOptions): { gold: Gold; question?: string } {
  const made: Gold =
    checker === 'none'
      ? { checker }
      : checker === 'exact'
        ? { checker, answers: gold.split('|').map((answer) => answer.trim()) }
        : { checker: checker as 'math' | 'judge', answer: gold }
  return { gold: made, ...(question === undefined ? {} : { question }) }
}

async function taskOf(options: CheckOptions): Promise<Pick<Task, 'gold' | 'question'>> {
  const { openTasks } = await import('../../tasks/index.ts')
  const from = options.task!
  const source = await sourceOf(from, options)
  const { limit: _one, ...every } = source
  for await (const task of openTasks(options.id === undefined ? source : { ...every, limit: 1_000_000 })) {
    if (options.id === undefined || task.id === options.id) return task
  }
  throw new UsageError(`${from} has no such task`, {
    fix: '`coa tasks show` prints tasks with their ids.',
  })
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new UsageError(`cannot read ${path}: ${(cause as Error).message}`, {
      cause,
      fix: 'Give the path of an existing file after the @.',
    })
  }
}
