import { EngineError } from '../checkpoint/index.ts'
import type { Sample, SampleRequest } from '../contract.ts'
import { finishedSample } from '../finished-sample.ts'
import { StopConditions } from '../stop-conditions.ts'
import { inputOf } from './datums.ts'
import type { Futures } from './futures.ts'
import type { SampledSequence, SampleOutput } from './protocol-types.ts'
import { readStream } from './sample-stream.ts'
import { numbers, type Sampling, samplingParams, seedOf, tokensOf } from './sampling.ts'
import type { Wire } from './wire.ts'

interface Parts {
  wire: Wire
  futures: Futures
  modelId: () => string
  contextLength: number
  decode: (ids: ArrayLike<number>) => string
}

/** Sampling with our trainer's extensions: current weights, streams, masks, numbered steps. */
export class TrainerSampling implements Sampling {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async sample(request: SampleRequest): Promise<Sample[]> {
    const { count = 1, onToken, signal, allowed } = request
    const seed = seedOf(request)
    if (allowed !== undefined)
      return Promise.all(
        Array.from({ length: count }, (_, number) => this.#masked(request, seed + number, number)),
      )
    const body = this.#body(request, seed, {
      ...(request.stopTokens === undefined ? {} : { stop_tokens: [...request.stopTokens] }),
      ...(request.stopTexts === undefined ? {} : { stop: [...request.stopTexts] }),
    })
    // A future survives a broken connection; a stream can be followed and cancelled.
    const { sequences } =
      onToken === undefined && signal === undefined
        ? await this.#parts.futures.call<SampleOutput>('/asample', { ...body, num_samples: count })
        : await readStream(this.#parts.wire, { ...body, num_samples: count }, { onToken, signal })
    return sequences.map(sampleOf)
  }

  weightsChanged(): void {}

  #body({ prompt, ...request }: SampleRequest, seed: number, more: object): object {
    return {
      model_id: this.#parts.modelId(),
      prompt: inputOf(prompt),
      sampling_params: { ...samplingParams({ prompt, ...request }, seed), ...more },
    }
  }

  /** The mask is computed here, so each token is a separate request; the server caches the prefix. */
  async #masked(request: SampleRequest, seed: number, number: number): Promise<Sample> {
    const { allowed, onToken, signal, maxTokens } = request
    const { wire, decode, contextLength } = this.#parts
    const prompt = Array.from(request.prompt)
    const stops = new StopConditions(request, decode)
    const tokens: number[] = []
    const logprobs: number[] = []
    const modelLogprobs: number[] = []
    let reused = 0
    let stopped: Sample['stopped'] | undefined
    while (stopped === undefined) {
      signal?.throwIfAborted()
      const mask = allowed?.([...tokens], number)
      if (mask?.every((entry) => entry === 0)) {
        stopped = 'nothing-allowed'
        break
      }
      const next = { ...request, prompt: [...prompt, ...tokens], maxTokens: 1 }
      const body = this.#body(next, seed, {
        first_step: tokens.length,
        ...(mask === undefined ? {} : { allowed_tokens: bitMask(mask) }),
      })
      const { sequences } = await readStream(wire, { ...body, num_samples: 1 }, { signal })
      const [sequence] = sequences
      const token = sequence?.tokens[0]
      if (sequence === undefined || token === undefined) {
        stopped = sequence?.stopped === 'nothing-allowed' ? 'nothing-allowed' : 'context'
        break
      }
      if (tokens.length === 0) reused = sequence.reused ?? 0
      tokens.push(token)
      logprobs.push(sequence.logprobs?.[0] ?? Number.NaN)
      modelLogprobs.push(sequence.model_logprobs?.[0] ?? Number.NaN)
      onToken?.(token, number)
      stopped = stops.after(tokens)
      if (stopped === undefined && tokens.length >= maxTokens) stopped = 'length'
      if (stopped === undefined && prompt.length + tokens.length >= contextLength) stopped = 'context'
    }
    return finishedSample({ tokens, logprobs, modelLogprobs, reused }, stopped)
  }
}

function sampleOf(sequence: SampledSequence): Sample {
  const tokens = tokensOf(sequence)
  if (sequence.stopped === undefined)
    throw new EngineError('The trainer did not report why a sample ended.', {
      fix: 'Use the trainer that came with this version.',
    })
  return {
    tokens,
    logprobs: numbers(sequence.logprobs, tokens.length),
    modelLogprobs: numbers(sequence.model_logprobs, tokens.length),
    stopped: sequence.stopped,
    reused: sequence.reused ?? 0,
  }
}

/** One bit per token, least significant first. */
function bitMask(allowed: Uint8Array): string {
  const bits = new Uint8Array(Math.ceil(allowed.length / 8))
  for (let at = 0; at < allowed.length; at++) if (allowed[at] !== 0) bits[at >> 3]! |= 1 << (at & 7)
  return Buffer.from(bits).toString('base64')
}
