import { EngineError } from '../checkpoint/index.ts'
import type { Sample, SampleRequest } from '../contract.ts'
import { lengthOf, logprobSettings, type ServerContext } from './sample-tokens.ts'

/**
 * One continuation from a text-only server. Its tokens are re-encoded from the text: they may differ from those sampled,
 * and their log-probabilities are unknown, so they must not be trained on.
 */
export async function sampleText(
  context: ServerContext,
  request: SampleRequest,
  index: number,
): Promise<Sample> {
  const { dialect, connection, contextLength, tokenizer } = context
  if (request.allowed !== undefined) {
    throw new EngineError(`${dialect.server} does not support allowed tokens`, {
      fix: 'Sample without a mask, or use the embedded engine, vLLM or llama.cpp.',
    })
  }
  const { prompt, stopTexts = [], stopTokens = [], seed } = request
  const limit = Math.min(request.maxTokens, contextLength - prompt.length)
  const read = dialect.reader()
  const body = dialect.body({
    ...logprobSettings(request),
    ids: [],
    text: tokenizer!.decode(prompt),
    maxTokens: limit,
    seed: seed === undefined ? undefined : seed + index,
    stopTokens: [],
    allowed: undefined,
  })
  let text = ''
  let stopped: Sample['stopped'] = lengthOf(request, limit)
  for await (const event of connection.stream(dialect.path, body, request.signal)) {
    const part = read(event as never)
    text += part.text
    const cut = endOfFirst(text, stopTexts)
    if (cut !== -1) {
      text = text.slice(0, cut)
      stopped = 'text'
      break
    }
    if (part.end === 'stop') stopped = 'token'
  }
  const ids = Array.from(tokenizer!.encodeContinuation(text, { specials: 'recognize' }).ids)
  const end = tokenizer!.eosId
  // The end token has no text, so it is added for callers that stop at it.
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

/** The end of the first stop string in the text; -1 if there is none. */
function endOfFirst(text: string, stops: readonly string[]): number {
  const ends = stops
    .map((stop) => [text.indexOf(stop), stop.length] as const)
    .filter(([start]) => start !== -1)
  return ends.length === 0 ? -1 : Math.min(...ends.map(([start, length]) => start + length))
}
