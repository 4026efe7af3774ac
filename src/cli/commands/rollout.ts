import type { Command } from 'commander'
import pc from 'picocolors'
import type { Policy, RolloutJob, Score, World } from '../../agent/index.ts'
import { reasonText, UsageError } from '../../base/errors/index.ts'
import { seedOf } from '../../base/random/index.ts'
import { percent } from '../../base/text/index.ts'
import { assertGrammars } from '../../language/grammar/index.ts'
import type { Rollout, Task } from '../../schema/index.ts'
import { openRun } from '../../store/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { findRun } from '../find-run.ts'
import { settings } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { wholeNumber } from '../numbers.ts'
import { emit, mark } from '../output.ts'
import { paintKind } from '../paint.ts'
import { showProgress } from '../progress.ts'
import { sanitize } from '../sanitize.ts'
import { addSourceOptions, readSourceTasks, type SourceOptions, sourceArgument } from './tasks-options.ts'

interface RolloutOptions extends SourceOptions {
  model?: string
  samples: number
  temperature?: string
  constrained?: boolean
  replay?: string
}

export function registerRollout(program: Command): void {
  addSourceOptions(program.command('rollout'), '4')
    .argument('[tasks]', sourceArgument)
    .description('have a model solve tasks with live tools, and show what it writes')
    .option('-m, --model <folder>', 'a checkpoint, or "nano" (default: student.model)')
    .option('--samples <count>', 'rollouts per task', wholeNumber('--samples'), 1)
    .option('--temperature <number>', 'sampling temperature; 0 is greedy (default: rollout.temperature)')
    .option('--constrained', 'sample only what the grammar allows')
    .option('--replay <run>', "repeat a run's recorded rollouts and compare them token by token")
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa rollout math -n 2 --level 1 --model runs/ID/checkpoints/sft',
        '  $ coa rollout search --samples 4 --temperature 0.7 --json',
        '  $ coa rollout --replay latest --model runs/ID/checkpoints/sft',
        '\nTo change the limits: --set rollout.max_turns=8 --set rollout.max_tokens=2000',
      ].join('\n'),
    )
    .action(async (from: string | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<RolloutOptions>()
      const { config } = settings(options, {
        'student.model': options.model,
        'rollout.temperature': options.temperature,
        'rollout.constrained': options.constrained,
      })
      const { openStudent, openWorld, refuseAllFailed, replay, rolloutSettings, rollOutAll, scoreOf } =
        await import('../../agent/index.ts')
      const recorded =
        options.replay === undefined ? undefined : readRecorded(config.project.runs, options.replay)
      const tasks = recorded?.tasks ?? (await readTasks(from, options))
      await assertGrammars(
        tasks.map(({ domain }) => domain),
        config.language,
      )
      const observe = showProgress()
      const student = await openStudent(config)
      const world: World = await openWorld(config)
      const policy: Policy = { ...student, checkpoint: student.folder }
      const how = rolloutSettings(config)
      try {
        await interruptible(async (signal) => {
          if (recorded !== undefined) {
            const different: string[] = []
            for (const [done, rollout] of recorded.rollouts.entries()) {
              signal.throwIfAborted()
              const task = tasks.find(({ id }) => id === rollout.taskId)!
              const { differences } = await replay(rollout, task, policy, world, how)
              if (differences.length > 0) different.push(`${rollout.id}: ${differences.join(', ')}`)
              observe({ stage: 'replay', done: done + 1, total: recorded.rollouts.length, unit: 'rollouts' })
            }
            observe.done()
            reportReplay(options, recorded.rollouts.length, different)
            return
          }
          const jobs = jobsOf(tasks, options.samples, (...parts) => seedOf(config.project.seed, ...parts))
          let done = 0
          const rollouts = await rollOutAll(jobs, policy, world, how, {
            concurrency: config.rollout.concurrency,
            signal,
            onRollout: () =>
              observe({ stage: 'rollout', done: ++done, total: jobs.length, unit: 'rollouts' }),
          })
          observe.done()
          refuseAllFailed(rollouts)
          const score = scoreOf(rollouts)
          const texts = rollouts.map((rollout, at) => shown(rollout, jobs[at]!.task))
          emit(options, { score, rollouts }, () => [...texts, summary(score, rollouts)].join('\n\n'))
        })
      } finally {
        observe.done()
        await world.close()
        await student.engine.close()
      }
    })
}

async function readTasks(from: string | undefined, options: RolloutOptions): Promise<Task[]> {
  if (from === undefined) {
    throw new UsageError('no tasks given', { fix: 'Give a suite, such as `coa rollout math`.' })
  }
  return readSourceTasks(from, options, ['dev', 'test'])
}

function readRecorded(runs: string, name: string): { rollouts: Rollout[]; tasks: Task[] } {
  using run = openRun(findRun(runs, name, 'rollouts'))
  const rollouts = [...run.scan('rollout')]
  const tasks = new Map<string, Task>()
  for (const { taskId } of rollouts) {
    const task = run.get('task', taskId)
    if (task !== undefined) tasks.set(taskId, task)
  }
  const known = rollouts.filter(({ taskId }) => tasks.has(taskId))
  if (known.length > 0) return { rollouts: known, tasks: [...tasks.values()] }
  throw new UsageError(`run ${run.id} has no rollouts with known tasks`, { fix: 'Choose another run.' })
}

function jobsOf(
  tasks: readonly Task[],
  samples: number,
  seedOf: (id: string, number: number) => number,
): RolloutJob[] {
  return tasks.flatMap((task) =>
    Array.from({ length: samples }, (_, number) => ({
      task,
      id: `${task.id}#${number}`,
      groupId: task.id,
      seed: seedOf(task.id, number),
    })),
  )
}

function shown(rollout: Rollout, task: Task): string {
  const text = rollout.spans.map((span) => paintKind(span.kind, sanitize(span.text))).join('')
  const isCorrect = rollout.verdict?.outcome === 'correct'
  const facts = [
    rollout.id,
    `stopped: ${rollout.stop}`,
    rollout.verdict?.outcome ?? 'unchecked',
    `${rollout.calls.length} calls`,
    ...(rollout.failure === undefined ? [] : [`failed: ${rollout.failure.message}`]),
  ]
  const sign = isCorrect ? mark.good : mark.bad
  return [pc.bold(task.question), text, `${sign} ${pc.dim(facts.join(', '))}`].join('\n')
}

function summary(score: Score, rollouts: readonly Rollout[]): string {
  const { count, accuracy, wellFormed, tokens, calls, undecided, failed } = score
  const reasons = rollouts.flatMap(({ failure }) => failure?.message ?? [])
  return [
    `${count} rollouts: ${percent(accuracy)} accuracy, ${percent(wellFormed)} well formed`,
    `${tokens.toFixed(0)} tokens and ${calls.toFixed(1)} calls on average`,
    ...(undecided > 0 ? [`${undecided} undecided`] : []),
    ...(failed > 0 ? [`${failed} failed for external reasons: ${reasonText(reasons)}`] : []),
  ].join(', ')
}

function reportReplay(options: RolloutOptions, count: number, different: readonly string[]): void {
  emit(options, { count, different }, () =>
    different.length === 0
      ? `${mark.good} replayed ${count} rollouts; every token is the same`
      : [`${mark.bad} ${different.length} of ${count} rollouts differ`, ...different].join('\n'),
  )
  if (different.length > 0) process.exitCode = exitCodes.findings.code
}
