import { EngineError } from '../checkpoint/index.ts'

/** What a server's log-probabilities are of. */
export type LogprobKind =
  /** The model as it is. */
  | 'model'
  /** After the temperature, before top-k and top-p. */
  | 'temperature'
  /** The distribution that was drawn from. */
  | 'drawn'

/** One continuation that is asked for; ids or text, as the server takes it. */
export interface Question {
  ids: readonly number[]
  text: string
  maxTokens: number
  temperature: number
  topP: number
  topK: number | undefined
  seed: number | undefined
  stopTokens: readonly number[]
  /** Undefined: all. */
  allowed: Uint8Array | undefined
}

/** A part of an answer. */
export interface Piece {
  /** Sampled tokens, each with its log-probability where the server tells it. */
  tokens: { id: number; logprob: number }[]
  /** Tokens that were sampled and not told: llama.cpp holds back those that are parts of a character. */
  untold: number
  text: string
  /** Given with the last part: it was long enough, or the model ended it. */
  end?: 'length' | 'stop' | 'context'
  reused?: number
}

/** How one kind of server is spoken to. */
export interface Dialect {
  server: string
  /** Prompts are ids, and ids come back. */
  tokens: boolean
  logprobs: LogprobKind | undefined
  /** Each request may name the tokens that are allowed. */
  allowed: boolean
  path: string
  body(question: Question): unknown
  /** Reads the objects of one answer. */
  reader(): (event: never) => Piece
  /** True for a failure that only means that nothing more will be told. */
  isEnd?(cause: unknown): boolean
}

/** Those settings of a question that log-probabilities hang on. */
export type Numbers = Pick<Question, 'temperature' | 'topP' | 'topK'>

/** From what the server tells to the two log-probabilities of the contract; NaN is what cannot be known. */
export function bothLogprobs(
  told: number,
  kind: LogprobKind | undefined,
  { temperature, topP, topK }: Numbers,
  masked: boolean,
): { drawn: number; model: number } {
  const cut = topP < 1 || topK !== undefined || masked
  const plain = temperature === 1 && !cut
  const unknown = Number.NaN
  const drawn = (): number => {
    if (temperature === 0) return 0
    if (kind === 'drawn' || plain) return told
    return kind === 'temperature' && !cut ? told : unknown
  }
  const model = (): number => {
    if (kind === 'model' || plain) return told
    // The likeliest token is taken without dividing by a temperature.
    return kind === 'temperature' && (temperature === 1 || temperature === 0) ? told : unknown
  }
  return kind === undefined ? { drawn: unknown, model: unknown } : { drawn: drawn(), model: model() }
}

export function unexpected(server: string, what: string): EngineError {
  return new EngineError(`${server} answered without ${what}`, {
    fix: 'Use a newer version of the server, or open it with textOnly.',
  })
}
