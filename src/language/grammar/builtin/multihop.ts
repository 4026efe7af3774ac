import type { GrammarInput } from '../definition.ts'
import { agent } from './agents.ts'

export const multihop: GrammarInput = {
  name: 'multihop',
  description: 'Questions answered by several lookups in an encyclopedia, each building on the one before.',
  start: ['plan', 'wiki_search'],
  prelude: { agent: 'think', before: ['plan', 'wiki_search', 'reflection', 'answer'] },
  agents: [
    agent('think'),
    agent('plan', { next: ['wiki_search'] }),
    agent('wiki_search', { next: ['wiki_search', 'reflection', 'answer'] }),
    agent('observation'),
    agent('reflection', { next: ['plan', 'wiki_search', 'answer'] }),
    agent('answer', {
      description: 'Give the final answer and nothing else; separate several answers by |.',
      payload: { syntax: 'list' },
    }),
  ],
}
