import { EngineError } from '../checkpoint/index.ts'
import type { Sample, SampleRequest } from '../contract.ts'
import { StopConditions } from '../stop-conditions.ts'
import { inputOf } from './datums.ts'
import type { Futures } from './futures.ts'
import type { SampledSequence, SampleOutput } from './protocol-types.ts'
import { numbers, type Sampling, samplingParams, seedOf, tokensOf } from './sampling.ts'

interface Parts {
  futures: Futures
  /** Publishes the model's weights to the server's sampler, under a number. */
  publish: (number: number) => Promise<string>
  /** Log-probabilities of tokens under the current model. */
  logprobs: (tokens: number[][], signal?: AbortSignal) => Promise<Float32Array[]>
  contextLength: number
  decode: (ids: ArrayLike<number>) => string
}

/** A sequence that may have been cut here. */
type CutSequence = SampledSequence & { stopped?: Sample['stopped'] }

/** Sampling with the plain protocol. The weights are published to the sampler once after each change. */
export class ProtocolSampling implements Sampling {
  readonly #parts: Parts
  #published: Promise<string> | undefined
  #publications = 0
  #requests = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  weightsChanged(): void {
    this.#published = undefined
  }

  async sample(request: SampleRequest): Promise<Sample[]> {
    rejectUnsupported(request)
    const { prompt, signal, onToken, stopTokens, stopTexts } = request
    const available = this.#parts.contextLength - prompt.length
    // One kind per request. Texts end most turns; samplers usually stop at end tokens by themselves, or are cut there.
    const stop = stopTexts?.length ? [...stopTexts] : stopTokens?.length ? [...stopTokens] : undefined
    const body = {
      sampling_session_id: await this.#session(),
      seq_id: ++this.#requests,
      num_samples: request.count ?? 1,
      prompt: inputOf(prompt),
      sampling_params: {
        ...samplingParams({ ...request, maxTokens: Math.min(request.maxTokens, available) }, seedOf(request)),
        ...(stop === undefined ? {} : { stop }),
      },
    }
    const output = await this.#parts.futures.call<SampleOutput>('/asample', body, { signal })
    const sequences: CutSequence[] =
      stopTokens?.length && stopTexts?.length
        ? output.sequences.map((each) => this.#cut(each, request))
        : output.sequences
    const known = isUnmodified(request)
      ? sequences.map((each) => numbers(each.logprobs, each.tokens.length))
      : await this.#modelLogprobs(prompt, sequences, signal)
    return sequences.map((sequence, index) => {
      const tokens = tokensOf(sequence)
      // The protocol has no streaming, so tokens are reported when all are available.
      for (const token of tokens) onToken?.(token, index)
      return {
        tokens,
        logprobs: samplingLogprobs(request, known[index]!),
        modelLogprobs: known[index]!,
        stopped: stopReason(sequence, request, available),
        reused: 0,
      }
    })
  }

  /** Up to the first stop of either kind. */
  #cut(sequence: SampledSequence, request: SampleRequest): CutSequence {
    const stops = new StopConditions(request, this.#parts.decode)
    const { tokens, logprobs } = sequence
    for (let count = 1; count <= tokens.length; count++) {
      const stopped = stops.after(tokens.slice(0, count))
      if (stopped !== undefined)
        return { tokens: tokens.slice(0, count), logprobs: logprobs?.slice(0, count) ?? null, stopped }
    }
    return sequence
  }

  #session(): Promise<string> {
    this.#published ??= this.#parts.publish(++this.#publications)
    this.#published.catch(() => {
      this.#published = undefined
    })
    return this.#published
  }

  async #modelLogprobs(
    prompt: ArrayLike<number>,
    sequences: readonly SampledSequence[],
    signal: AbortSignal | undefined,
  ): Promise<Float32Array[]> {
    const whole = sequences.map(({ tokens }) => [...Array.from(prompt), ...tokens])
    const logprobs = await this.#parts.logprobs(whole, signal)
    return logprobs.map((each) => each.slice(prompt.length))
  }
}

/** What servers with the plain protocol do not support. */
export const unsupportedByProtocol = {
  allowedTokens: 'the protocol cannot restrict the allowed tokens',
}

function rejectUnsupported({ allowed }: SampleRequest): void {
  if (allowed !== undefined)
    throw new EngineError(
      `This server does not support allowed tokens: ${unsupportedByProtocol.allowedTokens}.`,
      {
        fix: 'Sample without `allowed`, or use the coa trainer or the embedded engine.',
      },
    )
}

function isUnmodified({ temperature = 1, topP = 1, topK }: SampleRequest): boolean {
  return temperature === 1 && topP === 1 && topK === undefined
}

/** NaN if unknown; examples with NaN are rejected in training. */
function samplingLogprobs(request: SampleRequest, known: Float32Array): Float32Array {
  if (isUnmodified(request)) return known.slice()
  return known.map(() => (request.temperature === 0 || request.topK === 1 ? 0 : Number.NaN))
}

function stopReason(sequence: CutSequence, request: SampleRequest, available: number): Sample['stopped'] {
  if (sequence.stopped !== undefined) return sequence.stopped
  if (sequence.stop_reason === 'stop') return request.stopTokens?.length ? 'token' : 'text'
  return sequence.tokens.length >= available && available < request.maxTokens ? 'context' : 'length'
}
