import type { GrammarInput } from '../definition.ts'
import { agent } from './agents.ts'

const tools = ['web_search', 'wiki_search', 'crawl_page', 'code']
const acting = [...tools, 'suggested_answer']

/** Every tool in one chain, with a plan first and a check before the answer. */
export const allTools: GrammarInput = {
  name: 'all-tools',
  description: 'Questions of any kind, with every tool available and a check before the answer.',
  start: ['plan'],
  prelude: { agent: 'think', before: ['plan', 'reflection', ...acting, 'double_check', 'answer'] },
  agents: [
    agent('think'),
    agent('plan', { next: acting }),
    agent('web_search', { next: ['reflection', ...acting] }),
    agent('wiki_search', { next: ['reflection', ...acting] }),
    agent('crawl_page', { next: ['reflection', ...acting] }),
    agent('code', { next: ['reflection', ...acting] }),
    agent('observation'),
    agent('reflection', { next: ['plan', ...acting] }),
    agent('suggested_answer', { next: ['double_check'] }),
    agent('double_check', { next: ['plan', ...tools, 'answer'] }),
    agent('answer'),
  ],
}
