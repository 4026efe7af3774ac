import { run as distill } from '../distill/index.ts'
import { run as filter } from '../filter/index.ts'
import { teach } from '../teach/index.ts'
import { makeSequences } from './sequences.ts'
import type { Stage } from './stage.ts'
import { makeTasks } from './tasks.ts'

/** The method from end to end, in order. Stages without work are not part of the quickstart yet, and are said to be missing. */
export const stages: readonly Stage[] = [
  { name: 'sequences', purpose: 'example chains of every grammar, stored and masked', work: makeSequences },
  { name: 'tasks', purpose: 'tasks with answers that can be checked', work: makeTasks },
  {
    name: 'teach',
    purpose: 'a team of agents solves them with real tools',
    work: (context) => teach(context.config, context),
  },
  {
    name: 'distill',
    purpose: "the team's runs become chains of one voice",
    work: async (context) => (await distill(context.config, context)).figures,
  },
  {
    name: 'filter',
    purpose: 'what is worth learning is kept, with reasons',
    work: async (context) => (await filter(context.config, context)).figures,
  },
  { name: 'sft', purpose: 'a model learns the chains, observations masked' },
  { name: 'rl', purpose: 'the model improves by DAPO with live tools' },
  { name: 'eval', purpose: 'team and models on the same held-out tasks' },
]
