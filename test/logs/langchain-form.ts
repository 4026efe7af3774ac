import type { TeamMessage } from './team-run.ts'

/** The forms in which LangChain messages are written. */
export const forms = ['constructor', 'dict', 'flat', 'js'] as const
export type Form = (typeof forms)[number]

export interface Writing {
  form: Form
  /** Thoughts are parts of the content, or in a field next to it. */
  thoughts: 'content' | 'beside'
  calls: 'tool_calls' | 'content' | 'both'
  named: boolean
  /** Results say whether the tool failed. */
  status: boolean
}

const CLASSES = { system: 'SystemMessage', user: 'HumanMessage', assistant: 'AIMessage', tool: 'ToolMessage' }
const TYPES = { system: 'system', user: 'human', assistant: 'ai', tool: 'tool' }

/** A message as LangChain writes it. */
export function langChainForm(message: TeamMessage, id: string | null, writing: Writing): object {
  const data = { ...fieldsOf(message, writing), id, response_metadata: {} }
  const type = TYPES[message.role]
  const path = ['langchain', 'schema', 'messages', CLASSES[message.role]]
  switch (writing.form) {
    case 'constructor':
      return { lc: 1, type: 'constructor', id: path, kwargs: data }
    case 'dict':
      return { type, data: { ...data, type } }
    case 'flat':
      return { ...data, type }
    case 'js':
      return { id: path, kwargs: data }
  }
}

function fieldsOf(message: TeamMessage, { thoughts, calls: where, named, status }: Writing): object {
  if (message.role === 'tool') {
    const { call, output } = message
    return {
      content: output,
      tool_call_id: call.id,
      name: call.tool,
      ...(status ? { status: call.ok ? 'success' : 'error' } : {}),
      additional_kwargs: {},
    }
  }
  if (message.role !== 'assistant') return { content: message.text, additional_kwargs: {} }
  const { turn, calls } = message
  const inBlocks = where !== 'tool_calls' && calls.length > 0
  const thinking =
    turn.thought !== '' && thoughts === 'content' ? [{ type: 'thinking', thinking: turn.thought }] : []
  const beside = turn.thought !== '' && thoughts === 'beside' ? { reasoning_content: turn.thought } : {}
  const used = inBlocks
    ? calls.map(({ id, tool, input }) => ({ type: 'tool_use', id, name: tool, input }))
    : []
  const text = turn.text === '' ? [] : [{ type: 'text', text: turn.text }]
  const raw = calls.map(({ id, tool, input }) => ({
    id,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(input) },
  }))
  return {
    content: thinking.length + used.length === 0 ? turn.text : [...thinking, ...text, ...used],
    ...(named ? { name: turn.agent.name } : {}),
    additional_kwargs: { ...beside, ...(where === 'both' ? { tool_calls: raw } : {}) },
    tool_calls:
      where === 'content'
        ? []
        : calls.map(({ id, tool, input }) => ({ id, name: tool, args: input, type: 'tool_call' })),
  }
}
