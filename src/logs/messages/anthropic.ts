import type { ChatCall, ChatResult, ChatTurn } from '../chat-turn.ts'
import type { LoggedTool } from '../contract.ts'
import { asJson, asText, at, idOf, isObject, listOf, textOf } from '../json.ts'

/** The system prompt of a request: a text or text blocks. */
export const anthropicSystem = (system: unknown): string => blocksText(system)

/**
 * A message of Anthropic's Messages API. A user message may hold results before its text, so it can be several turns. Tools that
 * the server runs are called and answered within one assistant message, which is then cut after each result.
 */
export function readAnthropicMessage(value: unknown): ChatTurn[] {
  const role = at(value, 'role') === 'assistant' ? 'assistant' : 'user'
  const content = at(value, 'content')
  if (!Array.isArray(content)) return [{ role, text: asText(content), calls: [], results: [] }]
  const turns: ChatTurn[] = []
  let open = new OpenTurn(role)
  const close = (): void => {
    if (!open.isEmpty) turns.push(open.turn())
    open = new OpenTurn(role)
  }
  for (const block of content) {
    const result = resultOf(block)
    if (result === undefined) open.add(block)
    else {
      close()
      const last = turns.at(-1)
      if (last?.role === 'tool') turns[turns.length - 1] = { ...last, results: [...last.results, result] }
      else turns.push({ role: 'tool', text: '', calls: [], results: [result] })
    }
  }
  close()
  return turns
}

/** Tools as they are offered: `{ name, description, input_schema }`. */
export function anthropicTools(tools: unknown): LoggedTool[] {
  return listOf(tools).flatMap((tool) => {
    const name = textOf(at(tool, 'name'))
    if (name === undefined) return []
    const description = textOf(at(tool, 'description'))
    const schema = at(tool, 'input_schema')
    return {
      name,
      ...(description === undefined ? {} : { description }),
      ...(schema === undefined ? {} : { parameters: asJson(schema) }),
    }
  })
}

/** Collects blocks up to the next result. */
class OpenTurn {
  readonly #role: ChatTurn['role']
  readonly #texts: string[] = []
  readonly #thoughts: string[] = []
  readonly #calls: ChatCall[] = []

  constructor(role: ChatTurn['role']) {
    this.#role = role
  }

  get isEmpty(): boolean {
    return this.#texts.length + this.#thoughts.length + this.#calls.length === 0
  }

  add(block: unknown): void {
    const type = asText(at(block, 'type'))
    if (type === 'thinking') this.#thoughts.push(asText(at(block, 'thinking')))
    else if (type === 'tool_use' || type === 'server_tool_use' || type === 'mcp_tool_use') {
      const id = idOf(at(block, 'id'))
      this.#calls.push({
        ...(id === undefined ? {} : { id }),
        tool: asText(at(block, 'name')),
        input: asJson(at(block, 'input')),
      })
    } else if (type !== 'redacted_thinking') this.#texts.push(blockText(block))
  }

  turn(): ChatTurn {
    const thought = this.#thoughts.join('\n')
    return {
      role: this.#role,
      text: this.#texts.join('\n'),
      ...(thought === '' ? {} : { thought }),
      calls: this.#calls,
      results: [],
    }
  }
}

function resultOf(block: unknown): ChatResult | undefined {
  if (!isObject(block) || !/(?:^|_)tool_result$/.test(asText(block['type']))) return undefined
  const id = idOf(block['tool_use_id'])
  return {
    ...(id === undefined ? {} : { id }),
    output: blocksText(block['content']),
    ...(block['is_error'] === true ? { ok: false } : {}),
  }
}

function blocksText(content: unknown): string {
  if (Array.isArray(content)) return content.map(blockText).join('\n')
  return isObject(content) ? blockText(content) : asText(content)
}

/** Text, the texts a block encloses, or the name of a block without any. */
function blockText(block: unknown): string {
  const text = textOf(block) ?? textOf(at(block, 'text'))
  if (text !== undefined) return text
  const inner = at(block, 'content') ?? at(block, 'stdout')
  const type = asText(at(block, 'type'))
  if (inner !== undefined) return blocksText(inner)
  const [title, url] = [textOf(at(block, 'title')), textOf(at(block, 'url'))]
  return [title, url].filter((part) => part !== undefined).join('\n') || `[${type}]`
}
