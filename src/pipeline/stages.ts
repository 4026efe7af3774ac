import { percent, whole } from '../base/text/index.ts'
import { readEnvironment } from '../settings/index.ts'
import {
  type DistillContext,
  type DistillSummary,
  run as distillRun,
  smoothWith,
} from '../stages/distill/index.ts'
import { assertKept, type FilterSummary, run as filterRun } from '../stages/filter/index.ts'
import type { RlSummary } from '../stages/rl/index.ts'
import { teach as teachRun } from '../stages/teach/index.ts'
import { modelFromSettings } from '../world/models/index.ts'
import { evaluateAll } from './evaluate.ts'
import { type TrainRlOptions, trainRl } from './rl.ts'
import { type TrainSftOptions, trainSft } from './sft.ts'
import type { Stage } from './stage.ts'
import { makeTasks } from './tasks.ts'

const count = (value = 0): string => whole(value)

/** The first stage: generates or reads the tasks and stores them in the run. */
export const prepareTasks: Stage = {
  name: 'tasks',
  purpose: 'tasks with answers that can be checked',
  reads: [],
  writes: ['task'],
  run: async (context) => ({ figures: await makeTasks(context) }),
  describe: ({ tasks, misjudged }) =>
    `${count(tasks)} tasks, ${count(misjudged)} misjudged by their checkers`,
}

/**
 * The second stage: a team of agents solves the tasks with real tools, and every event is recorded as a trajectory.
 */
export const teach: Stage = {
  name: 'teach',
  purpose: 'a team of agents solves them with real tools',
  reads: ['task'],
  writes: ['trajectory'],
  run: async (context) => ({ figures: await teachRun(context.config, context) }),
  describe: (figures) =>
    `${count(figures['correct'])} of ${count(figures['trajectories'])} correct, ${count(figures['tool calls'])} tool calls`,
}

/** The third stage: merges each trajectory of the team into a single-agent sequence. */
export const distill: Stage<Pick<DistillContext, 'again' | 'dryRun' | 'react'>, DistillSummary> = {
  name: 'distill',
  purpose: "the team's transcripts become single-agent sequences",
  reads: ['task', 'trajectory'],
  writes: ['sequence'],
  run: async (context, options = {}) => {
    const { config } = context
    const model =
      options.dryRun === true ? undefined : modelFromSettings('distill', config.distill, readEnvironment())
    const smooth = model === undefined ? {} : { smooth: smoothWith(model) }
    return await distillRun(config, { ...context, ...options, ...smooth })
  },
  describe: ({ sequences, failed }) => `${count(sequences)} sequences, ${count(failed)} failed`,
}

interface FilterOptions {
  dryRun?: boolean
  /** Told what was found, also where nothing was kept and the stage therefore fails. */
  onSummary?: (summary: FilterSummary) => void
}

/** The fourth stage: selects the sequences to train on and records a reason for each one it drops. */
export const filter: Stage<FilterOptions, FilterSummary> = {
  name: 'filter',
  purpose: 'sequences worth learning from are kept, with reasons',
  reads: ['sequence'],
  writes: ['filter/'],
  run: async (context, { dryRun = false, onSummary } = {}) => {
    const summary = await filterRun(context.config, { ...context, dryRun })
    onSummary?.(summary)
    if (!dryRun) assertKept(summary, context.run)
    return summary
  },
  describe: ({ sequences, kept }) => `${count(kept)} of ${count(sequences)} kept`,
}

/** The fifth stage: supervised fine-tuning on the selected sequences, with tool output masked. */
export const sft: Stage<TrainSftOptions> = {
  name: 'sft',
  purpose: 'a model is trained on the sequences, tool output masked',
  reads: ['filter/', 'sequence'],
  writes: ['checkpoints/sft', 'metrics.jsonl'],
  run: async (context, options) => ({ figures: await trainSft(context, options) }),
  describe: ({ steps, loss }) =>
    `${count(steps)} steps${loss === undefined ? '' : `, loss ${loss.toFixed(3)}`}`,
}

/** The sixth stage: reinforcement learning (DAPO) from the model's own rollouts with live tools. */
export const rl: Stage<TrainRlOptions, RlSummary> = {
  name: 'rl',
  purpose: 'the model improves through DAPO with live tools',
  reads: ['task', 'sequence', 'pass-rate', 'checkpoints/sft'],
  writes: ['task', 'pass-rate', 'rollout', 'checkpoints/rl', 'metrics.jsonl'],
  run: trainRl,
  describe: (figures) =>
    `${count(figures['steps'])} steps, ${count(figures['rollouts'])} rollouts, ${percent(figures['pass rate at first'], 0)} correct in the first steps, ${percent(figures['pass rate at last'], 0)} in the last`,
}

/** The last stage: the team and the models solve the same held-out tasks and are compared. */
export const evaluate: Stage = {
  name: 'eval',
  purpose: 'the team and the models on the same held-out tasks',
  reads: ['task', 'checkpoints/sft', 'checkpoints/rl'],
  writes: ['attempt', 'eval'],
  run: async (context) => ({ figures: await evaluateAll(context) }),
  describe: ({ solvers, tasks }) => `${count(solvers)} solvers on ${count(tasks)} held-out tasks`,
}

/** The whole method: tasks, teach, distill, filter, sft, rl and eval, in order. A shorter list runs a part of it. */
export const stages: readonly Stage[] = [prepareTasks, teach, distill, filter, sft, rl, evaluate]
