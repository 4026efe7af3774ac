import { EngineError } from '../checkpoint/index.ts'
import type { Sample, SampleRequest } from '../contract.ts'
import { inputOf } from './datums.ts'
import type { Futures } from './futures.ts'
import type { SampledSequence, SampleOutput } from './protocol-types.ts'
import { numbers, type Sampling, samplingParams, seedOf, tokensOf } from './sampling.ts'

interface Parts {
  futures: Futures
  /** Puts the model's weights where the server samples from, under a number. */
  publish: (number: number) => Promise<string>
  /** Log-probabilities of tokens under the model as it is. */
  logprobs: (tokens: number[][], signal?: AbortSignal) => Promise<Float32Array[]>
  contextLength: number
}

/** Sampling with the protocol alone. The weights are handed to the sampler once after each change. */
export class PlainSampling implements Sampling {
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
    refuseWhatIsMissing(request)
    const { prompt, signal, onToken, stopTokens, stopTexts } = request
    const room = this.#parts.contextLength - prompt.length
    const stop = stopTokens?.length ? [...stopTokens] : stopTexts?.length ? [...stopTexts] : undefined
    const body = {
      sampling_session_id: await this.#session(),
      seq_id: ++this.#requests,
      num_samples: request.count ?? 1,
      prompt: inputOf(prompt),
      sampling_params: {
        ...samplingParams({ ...request, maxTokens: Math.min(request.maxTokens, room) }, seedOf(request)),
        ...(stop === undefined ? {} : { stop }),
      },
    }
    const { sequences } = await this.#parts.futures.call<SampleOutput>('/asample', body, { signal })
    const known = drawnAsTheModelIs(request)
      ? sequences.map((each) => numbers(each.logprobs, each.tokens.length))
      : await this.#modelLogprobs(prompt, sequences, signal)
    return sequences.map((sequence, index) => {
      const tokens = tokensOf(sequence)
      // The protocol tells nothing on the way, so tokens are told when all are there.
      for (const token of tokens) onToken?.(token, index)
      return {
        tokens,
        logprobs: drawnLogprobs(request, known[index]!),
        modelLogprobs: known[index]!,
        stopped: stoppedBecause(sequence, request, room),
        reused: 0,
      }
    })
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

/** Why a request cannot be put to a server that knows the protocol alone. */
export const missingThere = {
  logprobs:
    'the server does not say under which odds it drew at another temperature, top-p or top-k; those of the model are computed',
  allowedTokens: 'the protocol has no way to say which tokens may follow',
}

function refuseWhatIsMissing({ allowed, stopTokens, stopTexts }: SampleRequest): void {
  if (allowed !== undefined)
    throw new EngineError(
      `This server cannot be told which tokens are allowed: ${missingThere.allowedTokens}.`,
      {
        fix: 'Sample without `allowed`, or use the trainer of coa or the embedded engine.',
      },
    )
  if (stopTokens?.length && stopTexts?.length)
    throw new EngineError('This server stops at tokens or at texts, not at both.', {
      fix: 'Give stopTokens or stopTexts.',
    })
}

function drawnAsTheModelIs({ temperature = 1, topP = 1, topK }: SampleRequest): boolean {
  return temperature === 1 && topP === 1 && topK === undefined
}

/** Where the odds are not known they are no numbers, which the check of examples refuses to train on. */
function drawnLogprobs(request: SampleRequest, known: Float32Array): Float32Array {
  if (drawnAsTheModelIs(request)) return known.slice()
  return known.map(() => (request.temperature === 0 || request.topK === 1 ? 0 : Number.NaN))
}

function stoppedBecause(sequence: SampledSequence, request: SampleRequest, room: number): Sample['stopped'] {
  if (sequence.stop_reason === 'stop') return request.stopTokens?.length ? 'token' : 'text'
  return sequence.tokens.length >= room && room < request.maxTokens ? 'context' : 'length'
}
