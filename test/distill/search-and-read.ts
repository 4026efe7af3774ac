import type { GrammarInput } from '../../src/language/grammar/index.ts'
import type { DistillMap } from '../../src/stages/distill/index.ts'

/**
 * For published search-and-visit trajectories. They have no plan, reflection or check, send several queries at once
 * and read pages with a goal, which the `web` grammar cannot represent without loss.
 */
export const searchAndRead: GrammarInput = {
  name: 'search-and-read',
  description:
    'Questions answered by searching the web, several queries at a time, and reading pages for a purpose.',
  start: ['web_search', 'crawl_page', 'answer'],
  prelude: { agent: 'think', before: ['web_search', 'crawl_page', 'answer'] },
  agents: [
    { name: 'think', kind: 'role', description: 'Consider the progress so far and decide what to do next.' },
    {
      name: 'web_search',
      kind: 'tool',
      description: 'Search the web. Write one query, or several separated by |.',
      payload: { syntax: 'list' },
      next: ['web_search', 'crawl_page', 'answer'],
    },
    {
      name: 'crawl_page',
      kind: 'tool',
      description: 'Read web pages for what you want to know.',
      payload: {
        syntax: 'json',
        schema: {
          type: 'object',
          properties: { url: { type: 'array', items: { type: 'string' } }, goal: { type: 'string' } },
          required: ['url', 'goal'],
          additionalProperties: false,
        },
      },
      next: ['web_search', 'crawl_page', 'answer'],
    },
    {
      name: 'observation',
      kind: 'observation',
      description: 'What the tool returned. Never write it yourself.',
    },
    { name: 'answer', kind: 'answer', description: 'Give the final answer.' },
  ],
}

/** Maps their tools to coa's names. */
export const searchAndReadMap: DistillMap = new Map([
  ['search', 'web_search'],
  ['visit', 'crawl_page'],
])
