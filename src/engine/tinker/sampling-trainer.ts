import type { Sample, SampleRequest } from '../contract.ts'
import { finishedSample } from '../finished-sample.ts'
import { StopConditions } from '../stop-conditions.ts'
import {
  COLUMNS,
  type ColumnMessage,
  type ColumnParts,
  decodeColumns,
  encodeColumns,
  floatsIn,
  integersIn,
} from './columns.ts'
import { readStream } from './sample-stream.ts'
import { type Sampling, samplingParams, seedOf } from './sampling.ts'
import type { Wire } from './wire.ts'

interface Parts {
  wire: Wire
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
    const data = this.#encode(request, seed, {
      num_samples: count,
      ...(onToken === undefined ? {} : { stream: true }),
      params: {
        ...(request.stopTokens === undefined ? {} : { stop_tokens: [...request.stopTokens] }),
        ...(request.stopTexts === undefined ? {} : { stop: [...request.stopTexts] }),
      },
    })
    const { wire } = this.#parts
    // A stream is followed token by token; otherwise the trainer can sample many tokens at a time.
    const message =
      onToken === undefined
        ? decodeColumns(await wire.exchange('/asample', COLUMNS, data, signal))
        : await readStream(wire, data, { onToken, signal })
    return samplesOf(message)
  }

  weightsChanged(): void {}

  #encode(
    request: SampleRequest,
    seed: number,
    { params, ...more }: { params: object; num_samples: number; stream?: true },
    allowed?: ColumnParts,
  ): Uint8Array {
    const header = {
      model_id: this.#parts.modelId(),
      ...more,
      sampling_params: { ...samplingParams(request, seed), ...params },
    }
    const prompt = { type: 'int32' as const, parts: [request.prompt] }
    return encodeColumns(header, { prompt, ...(allowed === undefined ? {} : { allowed_tokens: allowed }) })
  }

  /** The mask is computed here, so each token is a separate request; the server caches the prefix. */
  async #masked(request: SampleRequest, seed: number, number: number): Promise<Sample> {
    const { allowed, onToken, signal, maxTokens } = request
    const { wire, decode, contextLength } = this.#parts
    const { length } = request.prompt
    const all = new Int32Array(Math.min(length + maxTokens, contextLength))
    all.set(request.prompt)
    const stops = new StopConditions(request, decode)
    const tokens: number[] = []
    const logprobs: number[] = []
    const modelLogprobs: number[] = []
    const versions: number[] = []
    let reused = 0
    let stopped: Sample['stopped'] | undefined
    while (stopped === undefined) {
      signal?.throwIfAborted()
      const mask = allowed?.([...tokens], number)
      if (mask?.every((entry) => entry === 0)) {
        stopped = 'nothing-allowed'
        break
      }
      const next = { ...request, prompt: all.subarray(0, length + tokens.length), maxTokens: 1 }
      const form = { num_samples: 1, params: { first_step: tokens.length } }
      const data = this.#encode(next, seed, form, mask === undefined ? undefined : bitMask(mask))
      const [found] = samplesOf(decodeColumns(await wire.exchange('/asample', COLUMNS, data, signal)))
      const token = found?.tokens[0]
      if (found === undefined || token === undefined) {
        stopped = found?.stopped === 'nothing-allowed' ? 'nothing-allowed' : 'context'
        break
      }
      if (tokens.length === 0) reused = found.reused
      all[length + tokens.length] = token
      tokens.push(token)
      logprobs.push(found.logprobs[0]!)
      modelLogprobs.push(found.modelLogprobs[0]!)
      versions.push(found.versions![0]!)
      onToken?.(token, number)
      stopped = stops.after(tokens)
      if (stopped === undefined && tokens.length >= maxTokens) stopped = 'length'
      if (stopped === undefined && length + tokens.length >= contextLength) stopped = 'context'
    }
    return finishedSample({ tokens, logprobs, modelLogprobs, reused, versions }, stopped)
  }
}

/** The samples are views into the message. */
function samplesOf(message: ColumnMessage): Sample[] {
  const [lengths, tokens] = [integersIn(message, 'lengths'), integersIn(message, 'tokens')]
  const [logprobs, modelLogprobs] = [floatsIn(message, 'logprobs'), floatsIn(message, 'model_logprobs')]
  const sequences = message.header['sequences'] as (Pick<Sample, 'stopped' | 'reused'> & {
    /** Runs of tokens: the version of their weights, and their number. */
    versions: [version: number, tokens: number][]
  })[]
  let end = 0
  return sequences.map(({ stopped, reused, versions }, index) => {
    const start = end
    end += lengths[index]!
    return {
      tokens: tokens.subarray(start, end),
      logprobs: logprobs.subarray(start, end),
      modelLogprobs: modelLogprobs.subarray(start, end),
      stopped,
      reused,
      versions: versionsOf(versions, lengths[index]!),
    }
  })
}

function versionsOf(runs: readonly [number, number][], length: number): Int32Array {
  const versions = new Int32Array(length)
  let at = 0
  for (const [version, tokens] of runs) {
    versions.fill(version, at, at + tokens)
    at += tokens
  }
  return versions
}

/** One bit per token, least significant first. */
function bitMask(allowed: Uint8Array): ColumnParts {
  const bits = new Uint8Array(Math.ceil(allowed.length / 8))
  for (let at = 0; at < allowed.length; at++) if (allowed[at] !== 0) bits[at >> 3]! |= 1 << (at & 7)
  return { type: 'uint8', parts: [bits] }
}
