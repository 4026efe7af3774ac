import type { Tokenizer } from '../../language/tokens/index.ts'
import { EngineError } from '../checkpoint/index.ts'
import type { Sample, SampleRequest } from '../contract.ts'
import { finishedSample } from '../finished-sample.ts'
import { StopRules } from '../stop-rules.ts'
import type { Connection } from './connection.ts'
import { bothLogprobs, type Dialect, type Numbers, type Piece, type Question, unexpected } from './dialect.ts'

export interface Place {
  connection: Connection
  dialect: Dialect
  contextLength: number
  tokenizer: Tokenizer | undefined
}

/** A continuation on its way. */
interface Growing {
  tokens: number[]
  logprobs: number[]
  modelLogprobs: number[]
  reused: number
}

/** One continuation from a server that takes and gives ids. The stop rules are kept here, the same for every server. */
export async function sampleTokens(place: Place, request: SampleRequest, index: number): Promise<Sample> {
  const { dialect, connection, contextLength, tokenizer } = place
  const numbers = numbersOf(request)
  const stops = new StopRules(request, (ids) => decoded(tokenizer, ids))
  const prompt = Array.from(request.prompt)
  const growing: Growing = { tokens: [], logprobs: [], modelLogprobs: [], reused: 0 }
  const room = Math.min(request.maxTokens, contextLength - prompt.length)
  const { allowed } = request

  const take = (id: number, told: number, masked: boolean): Sample['stopped'] | undefined => {
    if (!Number.isInteger(id)) throw unexpected(dialect.server, 'token ids')
    const { drawn, model } = bothLogprobs(told, dialect.logprobs, numbers, masked)
    growing.tokens.push(id)
    growing.logprobs.push(drawn)
    growing.modelLogprobs.push(model)
    request.onToken?.(id, index)
    return stops.after(growing.tokens)
  }
  const takePiece = (piece: Piece, masked: boolean): Sample['stopped'] | undefined => {
    // Those that were not told are made from the text again, and have no log-probability to train with.
    const tokens = piece.untold === 0 ? piece.tokens : guessed(piece, tokenizer)
    for (const { id, logprob } of tokens) {
      if (growing.tokens.length === room) return undefined
      const stopped = take(id, logprob, masked)
      if (stopped !== undefined) return stopped
    }
    return undefined
  }
  const ask = async (count: number, mask: Uint8Array | undefined): Promise<Sample['stopped'] | undefined> => {
    const { seed } = request
    const question: Question = {
      ...numbers,
      ids: [...prompt, ...growing.tokens],
      text: '',
      maxTokens: count,
      // A request for each token, all with one seed, would draw the same number again and again.
      seed:
        seed === undefined
          ? undefined
          : seed + index + (allowed === undefined ? 0 : 1_000_003 * growing.tokens.length),
      stopTokens: request.stopTokens ?? [],
      allowed: mask,
    }
    const read = dialect.reader()
    try {
      for await (const event of connection.stream(dialect.path, dialect.body(question), request.signal)) {
        const piece = read(event as never)
        if (piece.reused !== undefined && growing.reused === 0) growing.reused = piece.reused
        const stopped = takePiece(piece, mask !== undefined)
        if (stopped !== undefined) return stopped
        if (piece.end === 'context') return 'context'
        if (piece.end === 'stop') return 'token'
      }
    } catch (cause) {
      if (dialect.isEnd?.(cause) !== true) throw cause
    }
    return undefined
  }

  if (allowed === undefined) {
    const stopped = await ask(room, undefined)
    return finishedSample(growing, stopped ?? lengthOf(request, room))
  }
  while (growing.tokens.length < room) {
    const mask = allowed(growing.tokens, index)
    if (mask !== undefined && !mask.some((each) => each !== 0))
      return finishedSample(growing, 'nothing-allowed')
    const before = growing.tokens.length
    const stopped = await ask(1, mask)
    if (stopped !== undefined && !(stopped === 'token' && growing.tokens.length === before)) {
      return finishedSample(growing, stopped)
    }
    if (growing.tokens.length === before) throw unexpected(dialect.server, 'the token that was asked for')
  }
  return finishedSample(growing, lengthOf(request, room))
}

export function numbersOf({ temperature = 1, topP = 1, topK }: SampleRequest): Numbers {
  return { temperature, topP, topK }
}

/** The end of the context came first where it left less room than was asked for. */
export function lengthOf({ maxTokens }: SampleRequest, room: number): 'length' | 'context' {
  return room < maxTokens ? 'context' : 'length'
}

function guessed({ text, tokens }: Piece, tokenizer: Tokenizer | undefined): Piece['tokens'] {
  if (tokenizer === undefined) {
    throw new EngineError(
      'the server did not tell some of the tokens it sampled: those that are parts of a character',
      {
        fix: 'Open it with the model’s tokenizer, which can make them from the text again.',
      },
    )
  }
  const ids = Array.from(tokenizer.encodeContinuation(text).ids)
  // A control token has no text of its own here, so it is not among them.
  const last = tokens.at(-1)
  const whole = last !== undefined && tokenizer.isControl(last.id) ? [...ids, last.id] : ids
  return whole.map((id) => ({ id, logprob: Number.NaN }))
}

function decoded(tokenizer: Tokenizer | undefined, ids: ArrayLike<number>): string {
  if (tokenizer !== undefined) return tokenizer.decode(ids)
  throw new EngineError('Stopping at a text needs a tokenizer, and the server was opened without one.', {
    fix: 'Open it with the folder of the model’s tokenizer, or stop at tokens.',
  })
}
