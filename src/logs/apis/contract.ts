import type { ChatTurn } from '../chat-turn.ts'
import type { LoggedTool } from '../contract.ts'
import { asText, at, textOf } from '../json.ts'

/** An API through which models are called. Each is one file in this folder. */
export interface ModelApi {
  name: 'chat' | 'responses' | 'messages'
  /** The end of its path. */
  path: string
  request: (body: unknown) => ModelRequest
  /** What the model answered, from the body of a response. */
  answer: (body: unknown) => ModelAnswer
  /** The body that a stream's events add up to, as far as they got. */
  join: (events: readonly unknown[]) => unknown
}

/** What a model was asked. */
export interface ModelRequest {
  system: string
  /** The conversation without the system prompt. */
  turns: readonly ChatTurn[]
  tools: readonly LoggedTool[]
  model?: string
  /** The response that this request continues, where the server keeps the conversation. */
  previous?: string
}

/** What a model answered. */
export interface ModelAnswer {
  turns: readonly ChatTurn[]
  /** Alternatives to these turns, of which the conversation can continue only one. */
  others?: readonly (readonly ChatTurn[])[]
  id?: string
  model?: string
  tokens?: { prompt: number; completion: number }
  sampled?: SampledTokens
  /** Why it did not answer, according to the response. */
  error?: string
}

/** The tokens of an answer, where the server reports them. */
export interface SampledTokens {
  promptIds?: number[]
  ids?: number[]
  /** Their texts, where there are no ids. */
  tokens?: string[]
  logprobs?: number[]
}

/** The fields that all APIs have in common. */
export function headOf(body: unknown): { id?: string; model?: string; error?: string } {
  const [id, model] = [textOf(at(body, 'id')), textOf(at(body, 'model'))]
  const error = errorOf(at(body, 'error'))
  return {
    ...(id === undefined ? {} : { id }),
    ...(model === undefined ? {} : { model }),
    ...(error === undefined ? {} : { error }),
  }
}

export const errorOf = (error: unknown): string | undefined =>
  error === undefined || error === null ? undefined : (textOf(at(error, 'message')) ?? asText(error))

export function tokensOf(prompt: unknown, completion: unknown): Pick<ModelAnswer, 'tokens'> {
  if (typeof prompt !== 'number' && typeof completion !== 'number') return {}
  return { tokens: { prompt: Number(prompt ?? 0), completion: Number(completion ?? 0) } }
}

/** More parts than any response has; an index beyond is a mistake of the server. */
const MOST_PARTS = 1000

/** The index of a part of a stream. */
export const indexOf = (value: unknown, otherwise = 0): number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < MOST_PARTS ? value : otherwise
