import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { nearestName, UsageError } from '../base/errors/index.ts'
import { listRuns, type RunSummary } from '../store/index.ts'

const count = ({ counts }: RunSummary, kind: string): number =>
  // Without an index nobody knows: whoever opens the run will be told.
  counts === undefined ? 1 : ((counts as Record<string, number>)[kind] ?? 0)

/** Their tasks are there to measure with. */
const isEvaluation = ({ command = '' }: RunSummary): boolean => /^coa (?:eval|compare)\b/.test(command)

const stage = (run: RunSummary, name: 'sft' | 'rl') => run.stages?.[name]

/** What a command works on: "latest" is the newest run that has it. */
const kinds = {
  any: { has: () => true, what: 'there is no run', fix: 'Make one with `coa quickstart`.' },
  tasks: {
    has: (run: RunSummary) =>
      !isEvaluation(run) && ['task', 'trajectory', 'sequence'].some((kind) => count(run, kind) > 0),
    what: 'there is no run with tasks to learn from',
    fix: 'Make one with `coa teach`.',
  },
  trajectories: {
    has: (run: RunSummary) => !isEvaluation(run) && count(run, 'trajectory') > 0,
    what: 'there is no run in which a team was recorded',
    fix: 'Make one with `coa teach`.',
  },
  sequences: {
    has: (run: RunSummary) => !isEvaluation(run) && count(run, 'sequence') > 0,
    what: 'there is no run with distilled sequences',
    fix: 'Make some with `coa distill RUN`.',
  },
  training: {
    has: (run: RunSummary) => stage(run, 'sft') !== undefined || stage(run, 'rl') !== undefined,
    what: 'there is no run in which a model was trained',
    fix: 'Train one with `coa sft RUN`.',
  },
  'stopped training': {
    has: (run: RunSummary) =>
      (['sft', 'rl'] as const).some((name) => (stage(run, name)?.status ?? 'done') !== 'done'),
    what: 'there is no run whose training was stopped',
    fix: '`coa run list` shows how far each run came.',
  },
  reinforcement: {
    has: (run: RunSummary) => stage(run, 'rl') !== undefined,
    what: 'there is no run with reinforcement steps',
    fix: 'Start with `coa rl RUN`.',
  },
  rollouts: {
    has: (run: RunSummary) => count(run, 'rollout') > 0,
    what: 'there is no run with rollouts',
    fix: 'Make some with `coa rl RUN` or `coa eval TASKS --model FOLDER`.',
  },
  attempts: {
    has: (run: RunSummary) => count(run, 'attempt') > 0,
    what: 'there is no run with an evaluation',
    fix: 'Make one with `coa eval`.',
  },
} satisfies Record<string, { has: (run: RunSummary) => boolean; what: string; fix: string }>

export type RunKind = keyof typeof kinds

/** The folder of a run given by id, by path, or as "latest": the newest one that has what the command works on. */
export function findRun(runsDir: string, name: string, kind: RunKind = 'any'): string {
  const runs = listRuns(runsDir)
  if (name === 'latest') {
    const { has, what, fix } = kinds[kind]
    const newest = runs.find((run) => run.problem === undefined && has(run))
    if (newest !== undefined) return newest.dir
    throw new UsageError(`${what} in ${runsDir} yet`, { fix })
  }
  const known = runs.find((run) => run.id === name)
  if (known !== undefined) return known.dir
  if (existsSync(join(name, 'manifest.json'))) return name
  const nearest = nearestName(
    name,
    runs.map((run) => run.id),
  )
  throw new UsageError(`there is no run called "${name}" in ${runsDir}`, {
    fix: nearest === undefined ? 'See `coa run list`.' : `Did you mean "${nearest}"?`,
  })
}
