import { EngineError } from '../checkpoint/index.ts'
import type { Sample, SampleRequest } from '../contract.ts'
import { lengthOf, numbersOf, type Place } from './sample-tokens.ts'

/**
 * One continuation from a server that takes and gives text. Its tokens are those that the tokenizer makes of the text: they
 * need not be the ones that were sampled, and their log-probabilities are not known. Nothing may be trained on them.
 */
export async function sampleText(place: Place, request: SampleRequest, index: number): Promise<Sample> {
  const { dialect, connection, contextLength, tokenizer } = place
  if (request.allowed !== undefined) {
    throw new EngineError(`${dialect.server} cannot be told which tokens are allowed`, {
      fix: 'Sample without a mask, or use the embedded engine, vLLM or llama.cpp.',
    })
  }
  const { prompt, stopTexts = [], stopTokens = [], seed } = request
  const room = Math.min(request.maxTokens, contextLength - prompt.length)
  const read = dialect.reader()
  const body = dialect.body({
    ...numbersOf(request),
    ids: [],
    text: tokenizer!.decode(prompt),
    maxTokens: room,
    seed: seed === undefined ? undefined : seed + index,
    stopTokens: [],
    allowed: undefined,
  })
  let text = ''
  let stopped: Sample['stopped'] = lengthOf(request, room)
  for await (const event of connection.stream(dialect.path, body, request.signal)) {
    const piece = read(event as never)
    text += piece.text
    const cut = endOfFirst(text, stopTexts)
    if (cut !== -1) {
      text = text.slice(0, cut)
      stopped = 'text'
      break
    }
    if (piece.end === 'stop') stopped = 'token'
  }
  const ids = Array.from(tokenizer!.encodeContinuation(text, { specials: 'recognize' }).ids)
  const end = tokenizer!.eosId
  // The end token has no text; who waits for it shall find it.
  if (stopped === 'token' && end !== undefined && stopTokens.includes(end)) ids.push(end)
  for (const id of ids) request.onToken?.(id, index)
  return {
    tokens: Int32Array.from(ids),
    logprobs: new Float32Array(ids.length).fill(Number.NaN),
    modelLogprobs: new Float32Array(ids.length).fill(Number.NaN),
    stopped,
    reused: 0,
  }
}

/** Where the first of the texts to stop at is complete; -1 where none is. */
function endOfFirst(text: string, stops: readonly string[]): number {
  const ends = stops
    .map((stop) => [text.indexOf(stop), stop.length] as const)
    .filter(([start]) => start !== -1)
  return ends.length === 0 ? -1 : Math.min(...ends.map(([start, length]) => start + length))
}
