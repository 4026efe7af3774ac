import { Option } from 'commander'
import { CoaError, UsageError } from '../../base/errors/index.ts'
import { whole } from '../../base/text/index.ts'
import type { Task } from '../../schema/index.ts'
import type { CheckSummary } from '../../stages/check/index.ts'
import { openRun } from '../../store/index.ts'
import { findingLines, named } from '../findings.ts'
import { interruptible } from '../interrupt.ts'
import { nextLines } from '../next.ts'
import { emit, mark, table } from '../output.ts'
import { showProgress } from '../progress.ts'
import { settingsForRun } from '../run-settings.ts'
import { type SourceOptions, sourceOf } from './tasks-options.ts'

export interface CheckRunOptions extends SourceOptions {
  tasks?: string
  judge?: boolean
  relative?: boolean
  minScore?: string
  again?: boolean
}

/** An option that only makes sense for a run. */
export function forRun(flags: string, description: string): Option {
  return new Option(flags, description).conflicts(['task', 'gold'])
}

/** `every`: no number of tasks was named, so all of the source are read. */
export async function checkAnswersOfRun(
  name: string,
  options: CheckRunOptions,
  every: boolean,
): Promise<void> {
  const { dir, config } = settingsOf(name, options)
  const { check, runStage } = await import('../../pipeline/index.ts')
  const observe = showProgress()
  const { id, summary } = await interruptible(async (signal) => {
    const tasks = options.tasks === undefined ? [] : await readTasks(options.tasks, options, every)
    using run = openRun(dir, { write: true, command: 'coa check' })
    const without = options.relative === true ? 'relative' : options.judge === true ? 'judge' : undefined
    const checking = {
      tasks,
      again: options.again === true,
      ...(without === undefined ? {} : ({ without } as const)),
    }
    return {
      id: run.id,
      summary: await runStage(check, { run, config, signal, observe }, checking),
    }
  }).finally(observe.done)
  emit(options, { run: id, ...summary }, () => describe(summary, id))
}

function settingsOf(
  name: string,
  options: CheckRunOptions,
): ReturnType<typeof settingsForRun> & { dir: string } {
  try {
    return settingsForRun(options, name, {
      flags: { 'check.min_score': options.minScore },
      kind: 'answers',
      uses: () => [
        'language',
        'check',
        'sandbox',
        ...(options.judge === true || options.relative === true ? (['judge', 'tools'] as const) : []),
      ],
    })
  } catch (error) {
    const { tasks, judge, relative, again } = options
    if (
      !CoaError.isInstance(error) ||
      (tasks ?? judge ?? relative ?? again) !== undefined ||
      name === 'latest'
    )
      throw error
    throw new UsageError(`${error.message}, and nothing to check an answer against`, {
      fix: `To check an answer, give --task or --gold; for a run: ${error.fix}`,
    })
  }
}

async function readTasks(from: string, options: CheckRunOptions, every: boolean): Promise<Task[]> {
  const { openTasks } = await import('../../tasks/index.ts')
  const { number, ...others } = options
  const source = await sourceOf(from, every || number === undefined ? others : { ...others, number })
  const tasks: Task[] = []
  for await (const task of openTasks(source)) tasks.push(task)
  return tasks
}

function describe({ figures, reasons }: CheckSummary, run: string): string {
  const open = figures.undecided + figures.unchecked
  return [
    table(Object.entries(figures).map(([name, count]) => [name, whole(count)])),
    ...findingLines(
      ['answers', '', 'why', 'examples'],
      reasons,
      ({ outcome, reason }) => [outcome, reason],
      named,
    ),
    '',
    `${open === 0 ? mark.good : mark.open} ${whole(figures.correct)} of ${whole(figures.correct + figures.wrong)} checked answers are correct`,
    ...nextLines([
      ['distill', run],
      ['filter', run],
    ]),
  ].join('\n')
}
