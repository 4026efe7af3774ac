import { EngineError } from '../checkpoint/index.ts'

/** Which distribution a server's log-probabilities refer to. */
export type LogprobKind =
  /** The unmodified model. */
  | 'model'
  /** After the temperature, before top-k and top-p. */
  | 'temperature'
  /** The distribution sampled from. */
  | 'sampling'

/** A request for one continuation; ids or text, whichever the server accepts. */
export interface CompletionRequest {
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

/** A part of a streamed response. */
export interface ResponsePart {
  /** Sampled tokens with their log-probabilities, if reported. */
  tokens: { id: number; logprob: number }[]
  /** Sampled tokens that were not reported: llama.cpp withholds those that are parts of a character. */
  unreported: number
  text: string
  /** Set on the last part. */
  end?: 'length' | 'stop' | 'context'
  reused?: number
}

/** Adapter for one kind of server. */
export interface Dialect {
  server: string
  /** Prompts and outputs are token ids. */
  tokens: boolean
  logprobs: LogprobKind | undefined
  /** Requests can restrict the allowed tokens. */
  allowed: boolean
  path: string
  body(request: CompletionRequest): unknown
  /** Parses the events of one response. */
  reader(): (event: never) => ResponsePart
  /** True for an error that only marks the end of the output. */
  isEnd?(cause: unknown): boolean
}

/** Settings that affect log-probabilities. */
export type LogprobSettings = Pick<CompletionRequest, 'temperature' | 'topP' | 'topK'>

/** Derives the contract's two log-probabilities from the reported one; NaN if unknown. */
export function bothLogprobs(
  reported: number,
  kind: LogprobKind | undefined,
  { temperature, topP, topK }: LogprobSettings,
  masked: boolean,
): { sampling: number; model: number } {
  const cut = topP < 1 || topK !== undefined || masked
  const plain = temperature === 1 && !cut
  const unknown = Number.NaN
  const sampling = (): number => {
    if (temperature === 0) return 0
    if (kind === 'sampling' || plain) return reported
    return kind === 'temperature' && !cut ? reported : unknown
  }
  const model = (): number => {
    if (kind === 'model' || plain) return reported
    // Greedy decoding does not divide by the temperature.
    return kind === 'temperature' && (temperature === 1 || temperature === 0) ? reported : unknown
  }
  return kind === undefined ? { sampling: unknown, model: unknown } : { sampling: sampling(), model: model() }
}

export function unexpected(server: string, what: string): EngineError {
  return new EngineError(`${server} responded without ${what}`, {
    fix: 'Use a newer version of the server, or open it with textOnly.',
  })
}
