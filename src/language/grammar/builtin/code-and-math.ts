import type { GrammarInput } from '../definition.ts'
import { agent } from './agents.ts'

/** One plan, then rounds of thought, program, its output and a look back, until the answer is sure. */
const rounds: Pick<GrammarInput, 'start' | 'prelude'> = {
  start: ['plan'],
  prelude: { agent: 'think', before: ['code', 'answer'] },
}

const roundAgents = [
  agent('think'),
  agent('plan', { next: ['code', 'answer'] }),
  agent('code', { next: ['reflection'] }),
  agent('observation'),
  agent('reflection', { next: ['code', 'answer'] }),
]

export const code: GrammarInput = {
  name: 'code',
  description: 'Programming problems: write programs, run them, look back, and hand in one that works.',
  ...rounds,
  agents: [
    ...roundAgents,
    agent('answer', {
      description: 'Hand in the whole program.',
      payload: { syntax: 'code', languages: ['py', 'python'] },
    }),
  ],
}

export const math: GrammarInput = {
  name: 'math',
  description: 'Mathematical problems: compute with programs, look back, and give the value.',
  ...rounds,
  agents: [
    ...roundAgents,
    agent('answer', { description: 'Give the value as \\boxed{…} and nothing else.' }),
  ],
}
