import type { Contribution } from '../../schema/index.ts'

/** What a tag says about the text in it. */
export type TagMeaning =
  | { kind: 'thought' }
  | { kind: 'said'; as: Contribution }
  /** A call of this tool with the text as its input; without a tool, the text is JSON with name and arguments. */
  | { kind: 'call'; tool?: string }
  | { kind: 'result' }
  | { kind: 'answer' }

/** The tags in which a model was trained to write. */
export interface TagDialect {
  name: string
  tags: ReadonlyMap<string, TagMeaning>
  /** The program is in a fence of this language, and its output in another. */
  fences?: { call: string; result: string }
}

const thought: TagMeaning = { kind: 'thought' }
const common = { think: thought, thinking: thought, thought, answer: { kind: 'answer' } } as const

const call = (tool: string): TagMeaning => ({ kind: 'call', tool })
const says = (as: Contribution): TagMeaning => ({ kind: 'said', as })

function dialect(name: string, tags: Record<string, TagMeaning>): TagDialect {
  return { name, tags: new Map(Object.entries({ ...common, ...tags })) }
}

/** Calls as JSON in a chat, as Qwen's template writes them; results come in the next turn of the user. */
export const chatTags = dialect('chatml', {
  tool_call: { kind: 'call' },
  tool_response: { kind: 'result' },
})

/** Texts in which a model's words and the outputs of its tools alternate. */
export const tagDialects: readonly TagDialect[] = [
  dialect('chain-of-agents', {
    plan: says('plan'),
    reflection: says('reflection'),
    suggested_answer: says('suggestion'),
    double_check: says('check'),
    wiki_search: call('wiki_search'),
    web_search: call('web_search'),
    crawl_page: call('crawl_page'),
    visual_inspector: call('visual_inspector'),
    code: call('code'),
    observation: { kind: 'result' },
  }),
  dialect('search-r1', {
    search: call('search'),
    information: { kind: 'result' },
    result: { kind: 'result' },
  }),
  dialect('retool', { code: call('code'), interpreter: { kind: 'result' } }),
  { ...dialect('tora', {}), fences: { call: 'python', result: 'output' } },
]
