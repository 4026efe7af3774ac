import { run as distill } from '../stages/distill/index.ts'
import { assertKept, run as filter } from '../stages/filter/index.ts'
import { teach } from '../stages/teach/index.ts'
import { evaluateAll } from './evaluate.ts'
import { trainRl } from './rl.ts'
import { trainSft } from './sft.ts'
import type { Stage } from './stage.ts'
import { makeTasks } from './tasks.ts'

const count = (value = 0): string => value.toLocaleString('en')
const percent = (value = 0): string => `${(100 * value).toFixed(0)} %`

/** The method from end to end, in order. */
export const stages: readonly Stage[] = [
  {
    name: 'tasks',
    purpose: 'tasks with answers that can be checked',
    work: makeTasks,
    describe: ({ tasks, misjudged }) =>
      `${count(tasks)} tasks, ${count(misjudged)} misjudged by their checkers`,
  },
  {
    name: 'teach',
    purpose: 'a team of agents solves them with real tools',
    work: (context) => teach(context.config, context),
    describe: (figures) =>
      `${count(figures['correct'])} of ${count(figures['trajectories'])} right, ${count(figures['tool calls'])} tool calls`,
  },
  {
    name: 'distill',
    purpose: "the team's runs become chains of one voice",
    work: async (context) => (await distill(context.config, context)).figures,
    describe: ({ sequences, failed }) => `${count(sequences)} chains, ${count(failed)} failed`,
  },
  {
    name: 'filter',
    purpose: 'what is worth learning is kept, with reasons',
    work: async (context) => {
      const summary = await filter(context.config, context)
      assertKept(summary, context.run)
      return summary.figures
    },
    describe: ({ sequences, kept }) => `${count(kept)} of ${count(sequences)} kept`,
  },
  {
    name: 'sft',
    purpose: 'a model learns the chains, observations masked',
    work: (context) => trainSft(context, context.onMetric === undefined ? {} : { onStep: context.onMetric }),
    describe: ({ steps, loss }) =>
      `${count(steps)} steps${loss === undefined ? '' : `, loss ${loss.toFixed(3)}`}`,
  },
  {
    name: 'rl',
    purpose: 'the model improves by DAPO with live tools',
    work: async (context) => {
      const { onMetric, onFinding } = context
      const { figures } = await trainRl(context, {
        ...(onMetric === undefined ? {} : { onStep: onMetric }),
        ...(onFinding === undefined ? {} : { onFinding }),
      })
      return figures
    },
    describe: (figures) =>
      `${count(figures['steps'])} steps, ${count(figures['rollouts'])} rollouts, ${percent(figures['pass rate at first'])} right at first, ${percent(figures['pass rate at last'])} at last`,
  },
  {
    name: 'eval',
    purpose: 'team and models on the same held-out tasks',
    work: evaluateAll,
    describe: ({ solvers, tasks }) => `${count(solvers)} solvers on ${count(tasks)} held-out tasks`,
  },
]
