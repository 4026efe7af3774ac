import type { GrammarInput } from '../definition.ts'
import { agent } from './agents.ts'

const anything = ['plan', 'reflection', 'answer']

/** For imported runs: any order of plans, reflections and tools until the answer. The tools are those of the run. */
export const open: GrammarInput = {
  name: 'open',
  description: 'Questions of any kind, answered in any order of plans, tool calls and reflections.',
  start: anything,
  prelude: { agent: 'think', before: anything, required: false },
  agents: [
    agent('think'),
    agent('plan', { next: anything }),
    agent('reflection', { next: anything }),
    agent('answer'),
  ],
}
