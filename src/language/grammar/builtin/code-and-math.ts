import type { GrammarInput } from '../definition.ts'
import { agent } from './agents.ts'

/** One plan, then rounds of thought, program, output and reflection, until the answer is certain. */
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
  description: 'Programming problems: write programs, run them, reflect, and submit one that works.',
  ...rounds,
  agents: [
    ...roundAgents,
    agent('answer', {
      description: 'Submit the whole program.',
      payload: { syntax: 'code', languages: ['py', 'python'] },
    }),
  ],
}

export const math: GrammarInput = {
  name: 'math',
  description: 'Math problems: compute with programs, reflect, and give the value.',
  ...rounds,
  agents: [
    ...roundAgents,
    agent('answer', { description: 'Give the value as \\boxed{…} and nothing else.' }),
  ],
}
