import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { nearestName, UsageError } from '../base/errors/index.ts'
import { listRuns, type RunSummary } from '../store/index.ts'

const count = ({ counts }: RunSummary, kind: string): number =>
  // Unknown without an index; opening the run will report that.
  counts === undefined ? 1 : ((counts as Record<string, number>)[kind] ?? 0)

/** Tasks of an evaluation are not for training, and variants of a run are results, not something to continue. */
const isEvaluation = ({ command = '' }: RunSummary): boolean => /^coa (?:eval|compare|ablate)\b/.test(command)

const stage = (run: RunSummary, name: 'sft' | 'rl') => run.stages?.[name]

/** What a command needs: "latest" is the newest run that has it. */
const kinds = {
  any: { has: () => true, what: 'there is no run', fix: 'Create one with `coa quickstart`.' },
  tasks: {
    has: (run: RunSummary) =>
      !isEvaluation(run) && ['task', 'trajectory', 'sequence'].some((kind) => count(run, kind) > 0),
    what: 'there is no run with training tasks',
    fix: 'Create one with `coa teach`.',
  },
  trajectories: {
    has: (run: RunSummary) => !isEvaluation(run) && count(run, 'trajectory') > 0,
    what: 'there is no run with team trajectories',
    fix: 'Create one with `coa teach`.',
  },
  distillable: {
    has: (run: RunSummary) =>
      !isEvaluation(run) && ['trajectory', 'mark'].some((kind) => count(run, kind) > 0),
    what: 'there is no run with team trajectories or marked rollouts',
    fix: 'Create one with `coa teach`.',
  },
  answers: {
    has: (run: RunSummary) =>
      !isEvaluation(run) && ['trajectory', 'sequence'].some((kind) => count(run, kind) > 0),
    what: 'there is no run with answers',
    fix: 'Create one with `coa import` or `coa teach`.',
  },
  sequences: {
    has: (run: RunSummary) => !isEvaluation(run) && count(run, 'sequence') > 0,
    what: 'there is no run with distilled sequences',
    fix: 'Create them with `coa distill RUN`.',
  },
  training: {
    has: (run: RunSummary) => stage(run, 'sft') !== undefined || stage(run, 'rl') !== undefined,
    what: 'there is no run with a trained model',
    fix: 'Train one with `coa sft RUN`.',
  },
  'interrupted training': {
    has: (run: RunSummary) =>
      (['sft', 'rl'] as const).some((name) => (stage(run, name)?.status ?? 'done') !== 'done') ||
      (run.command === 'coa quickstart' && run.stages?.['eval']?.status !== 'done'),
    what: 'there is no run with interrupted training',
    fix: '`coa run list` shows the state of each run.',
  },
  rl: {
    has: (run: RunSummary) => stage(run, 'rl') !== undefined,
    what: 'there is no run with RL steps',
    fix: 'Start RL with `coa rl RUN`.',
  },
  rollouts: {
    has: (run: RunSummary) => count(run, 'rollout') > 0,
    what: 'there is no run with rollouts',
    fix: 'Create them with `coa rl RUN` or `coa eval TASKS --model FOLDER`.',
  },
  attempts: {
    has: (run: RunSummary) => count(run, 'attempt') > 0,
    what: 'there is no run with an evaluation',
    fix: 'Run one with `coa eval`.',
  },
} satisfies Record<string, { has: (run: RunSummary) => boolean; what: string; fix: string }>

export type RunKind = keyof typeof kinds

/** The folder of a run, given by id, by path, or as "latest": the newest run that has what the command needs. */
export function findRun(runsDir: string, name: string, kind: RunKind = 'any'): string {
  const runs = listRuns(runsDir)
  if (name === 'latest') {
    const { has, what, fix } = kinds[kind]
    const newest = runs.find((run) => run.problem === undefined && has(run))
    if (newest !== undefined) return newest.dir
    throw new UsageError(`${what} in ${runsDir}`, { fix })
  }
  const known = runs.find((run) => run.id === name)
  if (known !== undefined) return known.dir
  if (existsSync(join(name, 'manifest.json'))) return name
  const nearest = nearestName(
    name,
    runs.map((run) => run.id),
  )
  throw new UsageError(`there is no run "${name}" in ${runsDir}`, {
    fix: nearest === undefined ? '`coa run list` lists the runs.' : `Did you mean "${nearest}"?`,
  })
}
