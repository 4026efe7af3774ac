import type { AgentDefinition, GrammarInput } from '../definition.ts'

type AgentInput = GrammarInput['agents'][number]

/** Agents that several grammars share. Each grammar adds which agents may follow. */
const shared = {
  think: {
    kind: 'role',
    description: 'Consider the progress so far and decide what to do next. Keep the key findings in mind.',
  },
  plan: { kind: 'role', description: 'Break the question into the steps that will answer it, in order.' },
  web_search: {
    kind: 'tool',
    description: 'Search the web. Write one query as you would type it into a search box.',
  },
  wiki_search: { kind: 'tool', description: 'Search an encyclopedia. Write one short query.' },
  crawl_page: {
    kind: 'tool',
    description: 'Read web pages. Write one address, or several separated by |.',
    payload: { syntax: 'list' },
  },
  code: {
    kind: 'tool',
    description: 'Run a Python program. Only its output is returned, so print what you need.',
    payload: { syntax: 'code', languages: ['py', 'python'], stdin: true },
  },
  observation: {
    kind: 'observation',
    description: 'What the tool returned. It is inserted for you; never write it yourself.',
  },
  reflection: {
    kind: 'role',
    description: 'Judge the work so far: do the findings agree, did the tool help, is the plan working?',
  },
  suggested_answer: { kind: 'role', description: 'Suggest the answer that the findings support.' },
  double_check: {
    kind: 'role',
    description:
      'Check the suggested answer against the question and the findings, and score it from 1 to 4.',
  },
  answer: { kind: 'answer', description: 'Give the final answer and nothing else.' },
} satisfies Record<string, Omit<AgentInput, 'name'>>

/** A shared agent with what one grammar adds or overrides. */
export function agent(
  name: keyof typeof shared,
  overrides: Partial<Pick<AgentInput, 'next' | 'description' | 'payload'>> = {},
): AgentInput {
  return { name, ...shared[name], ...overrides } as AgentDefinition
}
