import { asText, at, isObject, listOf, textOf } from '../json.ts'
import { readResponsesItems } from '../messages/responses.ts'
import { toolsOf } from '../record-head.ts'
import { errorOf, headOf, indexOf, type ModelApi, tokensOf } from './contract.ts'
import { sampledTokens } from './sampled-tokens.ts'

/** OpenAI's Responses API. */
export const responses: ModelApi = {
  name: 'responses',
  path: '/responses',
  request: (body) => {
    const turns = readResponsesItems(at(body, 'input'))
    const [model, previous] = [textOf(at(body, 'model')), textOf(at(body, 'previous_response_id'))]
    const systems = turns.flatMap(({ role, text }) => (role === 'system' ? [text] : []))
    return {
      system: [textOf(at(body, 'instructions')) ?? '', ...systems].filter((text) => text !== '').join('\n\n'),
      turns: turns.filter(({ role }) => role !== 'system'),
      tools: toolsOf(at(body, 'tools')),
      ...(model === undefined ? {} : { model }),
      ...(previous === undefined ? {} : { previous }),
    }
  },
  answer: (body) => {
    const sampled = sampledTokens({ logprobs: logprobsIn(at(body, 'output')) })
    return {
      ...headOf(body),
      turns: readResponsesItems(at(body, 'output') ?? []),
      ...tokensOf(at(body, 'usage', 'input_tokens'), at(body, 'usage', 'output_tokens')),
      ...(sampled === undefined ? {} : { sampled }),
    }
  },
  join: (events) => {
    let response: Record<string, unknown> = {}
    const items: Item[] = []
    let error: string | undefined
    for (const event of events) {
      const type = asText(at(event, 'type'))
      const whole = at(event, 'response')
      if (isObject(whole)) response = whole
      if (type === 'error') error = errorOf(at(event, 'error') ?? event)
      if (typeof at(event, 'output_index') !== 'number') continue
      const index = indexOf(at(event, 'output_index'))
      if (type === 'response.output_item.added' || type === 'response.output_item.done')
        items[index] = new Item(at(event, 'item'))
      else if (type.endsWith('.delta')) items[index]?.add(type, asText(at(event, 'delta')))
    }
    // The last event carries the whole response; a stream that broke off has the items so far.
    const output = listOf(response['output'])
    const sofar = items.filter((item) => item !== undefined).map((item) => item.whole())
    return {
      ...response,
      output: output.length > 0 ? output : sofar,
      ...(error === undefined ? {} : { error }),
    }
  },
}

/** Of the words of the answer; of thoughts and calls, nobody reports them. */
const logprobsIn = (output: unknown): readonly unknown[] =>
  listOf(output).flatMap((item) =>
    listOf(at(item, 'content')).flatMap((part) => listOf(at(part, 'logprobs'))),
  )

/** An item of a stream that may not have been finished. */
class Item {
  readonly #item: Record<string, unknown>
  #text = ''
  #thought = ''
  #input = ''

  constructor(item: unknown) {
    this.#item = isObject(item) ? item : {}
  }

  add(type: string, piece: string): void {
    if (/reasoning/.test(type)) this.#thought += piece
    else if (/arguments|input|code/.test(type)) this.#input += piece
    else this.#text += piece
  }

  whole(): unknown {
    return {
      ...this.#item,
      ...(this.#text === '' ? {} : { content: [{ type: 'output_text', text: this.#text }] }),
      ...(this.#thought === '' ? {} : { summary: [{ type: 'summary_text', text: this.#thought }] }),
      ...(this.#input === '' ? {} : { [inputKey(asText(this.#item['type']))]: this.#input }),
    }
  }
}

const inputKey = (type: string): string =>
  type === 'custom_tool_call' ? 'input' : type === 'code_interpreter_call' ? 'code' : 'arguments'
