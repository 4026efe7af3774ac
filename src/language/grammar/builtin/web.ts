import type { GrammarInput } from '../definition.ts'
import { agent } from './agents.ts'

const acting = ['web_search', 'crawl_page', 'suggested_answer']

export const web: GrammarInput = {
  name: 'web',
  description: 'Questions answered by searching the web and reading pages, with a check before the answer.',
  start: ['plan'],
  prelude: {
    agent: 'think',
    before: ['plan', 'web_search', 'crawl_page', 'reflection', 'suggested_answer', 'double_check', 'answer'],
  },
  agents: [
    agent('think'),
    agent('plan', { next: acting }),
    agent('web_search', { next: ['reflection', ...acting] }),
    agent('crawl_page', { next: ['reflection', ...acting] }),
    agent('observation'),
    agent('reflection', { next: ['plan', ...acting] }),
    agent('suggested_answer', { next: ['double_check'] }),
    agent('double_check', {
      description:
        'Check the suggested answer against the question and the findings, and score it from 1 to 4. ' +
        'At 1 or 2, keep searching or make a new plan; at 3 or 4, give the answer.',
      next: ['plan', 'web_search', 'crawl_page', 'answer'],
    }),
    agent('answer'),
  ],
}
