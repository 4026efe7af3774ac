import type { ChatTurn } from '../chat-turn.ts'
import { asText, at, isObject, listOf, objectOf, textOf } from '../json.ts'
import { readOpenAiMessage } from '../messages/openai.ts'
import { toolsOf } from '../record-head.ts'
import { headOf, indexOf, type ModelApi, type SampledTokens, tokensOf } from './contract.ts'
import { sampledTokens } from './sampled-tokens.ts'

/** OpenAI's chat completions, and the many servers that imitate them. */
export const chat: ModelApi = {
  name: 'chat',
  path: '/chat/completions',
  request: (body) => {
    const turns = listOf(at(body, 'messages')).map(readOpenAiMessage)
    const model = textOf(at(body, 'model'))
    return {
      system: turns.flatMap(({ role, text }) => (role === 'system' ? [text] : [])).join('\n\n'),
      turns: turns.filter(({ role }) => role !== 'system'),
      tools: toolsOf(at(body, 'tools') ?? at(body, 'functions')),
      ...(model === undefined ? {} : { model }),
    }
  },
  answer: (body) => {
    const [turns = [], ...others] = listOf(at(body, 'choices')).map(turnsOf)
    const sampled = sampledOf(body)
    return {
      ...headOf(body),
      turns,
      ...(others.length === 0 ? {} : { others }),
      ...tokensOf(at(body, 'usage', 'prompt_tokens'), at(body, 'usage', 'completion_tokens')),
      ...(sampled === undefined ? {} : { sampled }),
    }
  },
  join: (events) => {
    const choices: Choice[] = []
    const whole: Record<string, unknown> = {}
    for (const event of events) {
      for (const key of ['id', 'model', 'usage', 'error', 'prompt_token_ids']) {
        const value = at(event, key)
        if (value !== undefined && value !== null) whole[key] = value
      }
      for (const part of listOf(at(event, 'choices'))) {
        const index = indexOf(at(part, 'index'))
        choices[index] ??= new Choice()
        choices[index].add(part)
      }
    }
    return { ...whole, choices: choices.filter((choice) => choice !== undefined).map((one) => one.whole()) }
  },
}

function turnsOf(choice: unknown): ChatTurn[] {
  const message = at(choice, 'message')
  return isObject(message) ? [readOpenAiMessage({ role: 'assistant', ...message })] : []
}

/** One choice of a stream. The pieces of a call are joined by its index; only the first piece has its id and name. */
class Choice {
  readonly #message: Record<string, string> = {}
  readonly #calls: { id?: string; type: string; function: { name: string; arguments: string } }[] = []
  readonly #tokenIds: unknown[] = []
  readonly #logprobs: unknown[] = []
  #function: { name: string; arguments: string } | undefined

  add(part: unknown): void {
    const delta = at(part, 'delta')
    // Also texts that only some servers send, so that they are not lost.
    for (const [key, piece] of Object.entries(objectOf(delta)))
      if (typeof piece === 'string' && key !== 'role') this.#message[key] = (this.#message[key] ?? '') + piece
    for (const call of listOf(at(delta, 'tool_calls'))) {
      const index = indexOf(at(call, 'index'), this.#calls.length)
      this.#calls[index] ??= { type: 'function', function: { name: '', arguments: '' } }
      const joined = this.#calls[index]
      const id = textOf(at(call, 'id'))
      if (id !== undefined && id !== '') joined.id = id
      addPiece(joined.function, at(call, 'function') ?? at(call, 'custom'))
    }
    const legacy = at(delta, 'function_call')
    if (isObject(legacy)) {
      this.#function ??= { name: '', arguments: '' }
      addPiece(this.#function, legacy)
    }
    this.#tokenIds.push(...listOf(at(part, 'token_ids')))
    this.#logprobs.push(...listOf(at(part, 'logprobs', 'content')))
  }

  whole(): unknown {
    const calls = this.#calls.filter((call) => call !== undefined)
    return {
      message: {
        role: 'assistant',
        ...this.#message,
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
        ...(this.#function === undefined ? {} : { function_call: this.#function }),
      },
      ...(this.#tokenIds.length === 0 ? {} : { token_ids: this.#tokenIds }),
      ...(this.#logprobs.length === 0 ? {} : { logprobs: { content: this.#logprobs } }),
    }
  }
}

function addPiece(joined: { name: string; arguments: string }, piece: unknown): void {
  joined.name += asText(at(piece, 'name'))
  joined.arguments += asText(at(piece, 'arguments') ?? at(piece, 'input'))
}

/** Of several choices, the conversation may continue any: whose tokens these are is then not known. */
function sampledOf(body: unknown): SampledTokens | undefined {
  const [choice, ...others] = listOf(at(body, 'choices'))
  if (others.length > 0) return undefined
  return sampledTokens({
    logprobs: listOf(at(choice, 'logprobs', 'content')),
    ids: listOf(at(choice, 'token_ids')),
    promptIds: listOf(at(body, 'prompt_token_ids')),
  })
}
