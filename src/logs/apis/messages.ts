import { parseJson } from '../../schema/index.ts'
import { asText, at, isObject, listOf, objectOf, textOf } from '../json.ts'
import { anthropicSystem, anthropicTools, readAnthropicMessage } from '../messages/anthropic.ts'
import { errorOf, headOf, indexOf, type ModelApi, tokensOf } from './contract.ts'

/** Anthropic's Messages API. */
export const messages: ModelApi = {
  name: 'messages',
  path: '/messages',
  request: (body) => {
    const model = textOf(at(body, 'model'))
    return {
      system: anthropicSystem(at(body, 'system')),
      turns: listOf(at(body, 'messages')).flatMap(readAnthropicMessage),
      tools: anthropicTools(at(body, 'tools')),
      ...(model === undefined ? {} : { model }),
    }
  },
  answer: (body) => ({
    ...headOf(body),
    turns:
      at(body, 'content') === undefined
        ? []
        : readAnthropicMessage({ role: 'assistant', content: at(body, 'content') }),
    ...tokensOf(promptTokens(at(body, 'usage')), at(body, 'usage', 'output_tokens')),
  }),
  join: (events) => {
    let message: Record<string, unknown> = {}
    let usage: Record<string, unknown> = {}
    const blocks: Block[] = []
    let error: string | undefined
    for (const event of events) {
      const type = at(event, 'type')
      const index = indexOf(at(event, 'index'))
      const counts = at(event, 'usage') ?? at(event, 'message', 'usage')
      if (isObject(counts)) usage = { ...usage, ...counts }
      if (type === 'message_start') message = objectOf(at(event, 'message'))
      else if (type === 'content_block_start') blocks[index] = new Block(at(event, 'content_block'))
      else if (type === 'content_block_delta') blocks[index]?.add(at(event, 'delta'))
      else if (type === 'error') error = errorOf(at(event, 'error'))
    }
    const content = blocks.filter((block) => block !== undefined).map((block) => block.whole())
    return { ...message, content, usage, ...(error === undefined ? {} : { error }) }
  },
}

/** Without the tokens that were read from a cache or written to one, `input_tokens` is a part of the prompt only. */
function promptTokens(usage: unknown): number | undefined {
  const keys = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens']
  const counts = keys.map((key) => at(usage, key)).filter((count) => typeof count === 'number')
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0)
}

class Block {
  readonly #block: Record<string, unknown>
  readonly #pieces: Record<string, string> = {}

  constructor(block: unknown) {
    this.#block = isObject(block) ? block : {}
  }

  add(delta: unknown): void {
    for (const key of ['text', 'thinking', 'partial_json'])
      this.#pieces[key] = (this.#pieces[key] ?? '') + asText(at(delta, key))
  }

  whole(): unknown {
    const { text = '', thinking = '', partial_json: json = '' } = this.#pieces
    return {
      ...this.#block,
      ...(text === '' ? {} : { text: asText(this.#block['text']) + text }),
      ...(thinking === '' ? {} : { thinking: asText(this.#block['thinking']) + thinking }),
      ...(json === '' ? {} : { input: inputOf(json) }),
    }
  }
}

/** A stream may end in the middle of the input. */
function inputOf(json: string): unknown {
  try {
    return parseJson(json)
  } catch {
    return json
  }
}
