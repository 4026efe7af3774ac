import type { Tokenizer } from '../../language/tokens/index.ts'
import { EngineError } from '../checkpoint/index.ts'
import type { Sample, SampleRequest } from '../contract.ts'
import { finishedSample } from '../finished-sample.ts'
import { StopConditions } from '../stop-conditions.ts'
import type { Connection } from './connection.ts'
import {
  bothLogprobs,
  type CompletionRequest,
  type Dialect,
  type LogprobSettings,
  type ResponsePart,
  unexpected,
} from './dialect.ts'

export interface ServerContext {
  connection: Connection
  dialect: Dialect
  contextLength: number
  tokenizer: Tokenizer | undefined
}

/** A continuation being sampled. */
interface PartialSample {
  tokens: number[]
  logprobs: number[]
  modelLogprobs: number[]
  reused: number
}

/** One continuation from a token-based server. Stop conditions are checked here, the same for every server. */
export async function sampleTokens(
  context: ServerContext,
  request: SampleRequest,
  index: number,
): Promise<Sample> {
  const { dialect, connection, contextLength, tokenizer } = context
  const numbers = logprobSettings(request)
  const stops = new StopConditions(request, (ids) => decoded(tokenizer, ids))
  const prompt = Array.from(request.prompt)
  const sample: PartialSample = { tokens: [], logprobs: [], modelLogprobs: [], reused: 0 }
  const limit = Math.min(request.maxTokens, contextLength - prompt.length)
  const { allowed } = request

  const take = (id: number, reported: number, masked: boolean): Sample['stopped'] | undefined => {
    if (!Number.isInteger(id)) throw unexpected(dialect.server, 'token ids')
    const { sampling, model } = bothLogprobs(reported, dialect.logprobs, numbers, masked)
    sample.tokens.push(id)
    sample.logprobs.push(sampling)
    sample.modelLogprobs.push(model)
    request.onToken?.(id, index)
    return stops.after(sample.tokens)
  }
  const takePart = (part: ResponsePart, masked: boolean): Sample['stopped'] | undefined => {
    // Unreported tokens are re-encoded from the text and have no log-probability.
    const tokens = part.unreported === 0 ? part.tokens : reencoded(part, tokenizer)
    for (const { id, logprob } of tokens) {
      if (sample.tokens.length === limit) return undefined
      const stopped = take(id, logprob, masked)
      if (stopped !== undefined) return stopped
    }
    return undefined
  }
  const complete = async (
    count: number,
    mask: Uint8Array | undefined,
  ): Promise<Sample['stopped'] | undefined> => {
    const { seed } = request
    const completion: CompletionRequest = {
      ...numbers,
      ids: [...prompt, ...sample.tokens],
      text: '',
      maxTokens: count,
      // With a mask, each token is a separate request; with the same seed all would use the same random number.
      seed:
        seed === undefined
          ? undefined
          : seed + index + (allowed === undefined ? 0 : 1_000_003 * sample.tokens.length),
      stopTokens: request.stopTokens ?? [],
      allowed: mask,
    }
    const read = dialect.reader()
    try {
      for await (const event of connection.stream(dialect.path, dialect.body(completion), request.signal)) {
        const part = read(event as never)
        if (part.reused !== undefined && sample.reused === 0) sample.reused = part.reused
        const stopped = takePart(part, mask !== undefined)
        if (stopped !== undefined) return stopped
        if (part.end === 'context') return 'context'
        if (part.end === 'stop') return 'token'
      }
    } catch (cause) {
      if (dialect.isEnd?.(cause) !== true) throw cause
    }
    return undefined
  }

  if (allowed === undefined) {
    const stopped = await complete(limit, undefined)
    return finishedSample(sample, stopped ?? lengthOf(request, limit))
  }
  while (sample.tokens.length < limit) {
    const mask = allowed(sample.tokens, index)
    if (mask !== undefined && !mask.some((each) => each !== 0))
      return finishedSample(sample, 'nothing-allowed')
    const before = sample.tokens.length
    const stopped = await complete(1, mask)
    if (stopped !== undefined && !(stopped === 'token' && sample.tokens.length === before)) {
      return finishedSample(sample, stopped)
    }
    if (sample.tokens.length === before) throw unexpected(dialect.server, 'the requested token')
  }
  return finishedSample(sample, lengthOf(request, limit))
}

export function logprobSettings({ temperature = 1, topP = 1, topK }: SampleRequest): LogprobSettings {
  return { temperature, topP, topK }
}

/** 'context' if the context left less space than requested. */
export function lengthOf({ maxTokens }: SampleRequest, limit: number): 'length' | 'context' {
  return limit < maxTokens ? 'context' : 'length'
}

function reencoded({ text, tokens }: ResponsePart, tokenizer: Tokenizer | undefined): ResponsePart['tokens'] {
  if (tokenizer === undefined) {
    throw new EngineError('the server did not report some sampled tokens that are parts of a character', {
      fix: "Open it with the model's tokenizer, so that they can be re-encoded from the text.",
    })
  }
  const ids = Array.from(tokenizer.encodeContinuation(text).ids)
  // A control token has no text here, so it is not among them.
  const last = tokens.at(-1)
  const whole = last !== undefined && tokenizer.isControl(last.id) ? [...ids, last.id] : ids
  return whole.map((id) => ({ id, logprob: Number.NaN }))
}

function decoded(tokenizer: Tokenizer | undefined, ids: ArrayLike<number>): string {
  if (tokenizer !== undefined) return tokenizer.decode(ids)
  throw new EngineError('Stop strings need a tokenizer, but the server was opened without one.', {
    fix: "Open it with the model's tokenizer folder, or use stop tokens.",
  })
}
