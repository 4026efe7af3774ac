import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Observe } from '../../base/progress/index.ts'
import { checkRequest } from '../check-request.ts'
import {
  ADAPTER_CONFIG,
  adoptFiles,
  BASE_FINGERPRINT,
  EngineError,
  readCheckpointManifest,
  readTokenizerFiles,
} from '../checkpoint/index.ts'
import type {
  AdamSettings,
  CheckpointNote,
  Engine,
  EngineDescription,
  LoadOptions,
  Loss,
  OptimResult,
  PassResult,
  Sample,
  SampleRequest,
  SaveOptions,
  TrainingExample,
} from '../contract.ts'
import type { Futures } from './futures.ts'
import { whileLoading } from './loading-progress.ts'
import { type LossContract, routeOf } from './loss-contract.ts'
import { ModelSession } from './model-session.ts'
import type { CreatedModel } from './protocol-types.ts'
import { readRemote, saveRemotely } from './remote-checkpoint.ts'
import type { Sampling } from './sampling.ts'
import { ProtocolSampling, unsupportedByProtocol } from './sampling-protocol.ts'
import { TrainerSampling } from './sampling-trainer.ts'
import { TEMPERATURE_ONE_ONLY, Training } from './training.ts'
import { fetchCheckpoint, nameBase, sendCheckpoint, type Transfer } from './transfer.ts'
import type { Wire } from './wire.ts'

export interface ModelInfo {
  contextLength: number
  vocabularySize: number
  /** 0 if the server does not report it. */
  parameters: number
  trainedParameters: number
  device: string
}

/** An engine that exposes what was measured about its server. */
export interface TinkerEngine extends Engine {
  readonly contract: LossContract
}

export interface DriverParts {
  wire: Wire
  futures: Futures
  session: ModelSession
  contract: LossContract
  info: ModelInfo
  ours: boolean
  rank: number
  baseModel: string
  /** The local folder of the base model. */
  base: string | undefined
  tokenizer: string | undefined
  decode: (ids: ArrayLike<number>) => string
  create: (number: number) => Promise<CreatedModel>
  stopHeartbeat: () => void
  progress: Observe | undefined
}

export class TinkerDriver implements TinkerEngine {
  readonly contract: LossContract
  readonly #parts: DriverParts
  readonly #sampling: Sampling
  #session: ModelSession
  #training: Training
  #models = 1
  #saved = 0
  #closed = false

  constructor(parts: DriverParts) {
    this.#parts = parts
    this.contract = parts.contract
    this.#session = parts.session
    this.#training = this.#newTraining()
    const { wire, futures, info, decode, ours } = parts
    const modelId = (): string => this.#session.modelId
    this.#sampling = ours
      ? new TrainerSampling({ wire, modelId, contextLength: info.contextLength, decode })
      : new ProtocolSampling({
          futures,
          contextLength: info.contextLength,
          decode,
          publish: (number) => this.#publish(number),
          logprobs: async (tokens, signal) => {
            const examples = tokens.map((each) => ({ tokens: each, weights: each.map(() => 0) }))
            return (await this.#training.forward(examples, signal)).logprobs
          },
        })
  }

  describe(): EngineDescription {
    const { info, ours, contract } = this.#parts
    const { device, ...numbers } = info
    const unsupported = (['cross-entropy', 'policy'] as const)
      .map((kind) =>
        routeOf(contract, kind === 'policy' ? { kind, lowestRatio: 0.8, highestRatio: 1.28 } : { kind }),
      )
      .find((route) => typeof route === 'object')
    return {
      driver: 'tinker',
      device,
      ...numbers,
      lossIs: 'sum',
      missing: {
        ...(ours ? {} : { ...unsupportedByProtocol, temperature: TEMPERATURE_ONE_ONLY }),
        ...(unsupported === undefined ? {} : { train: unsupported.unsupported }),
      },
    }
  }

  async sample(request: SampleRequest): Promise<Sample[]> {
    this.#checkOpen()
    request.signal?.throwIfAborted()
    checkRequest(request, this.#parts.info)
    return this.#sampling.sample(request)
  }

  async forward(
    examples: readonly TrainingExample[],
    signal?: AbortSignal,
    temperature?: number,
  ): Promise<PassResult> {
    this.#checkOpen()
    return this.#training.forward(examples, signal, temperature)
  }

  async forwardBackward(
    examples: readonly TrainingExample[],
    loss: Loss,
    signal?: AbortSignal,
  ): Promise<PassResult> {
    this.#checkOpen()
    return this.#training.forwardBackward(examples, loss, signal)
  }

  async optimStep(settings: AdamSettings): Promise<OptimResult> {
    this.#checkOpen()
    try {
      return await this.#training.optimStep(settings)
    } finally {
      this.#sampling.weightsChanged()
    }
  }

  async save(folder: string, note: CheckpointNote, { optimizer = true }: SaveOptions = {}): Promise<void> {
    this.#checkOpen()
    const { wire, info, ours, base, baseModel, rank } = this.#parts
    const name = `coa-${this.#session.modelId.replaceAll(/[^a-zA-Z0-9_-]/g, '')}-${++this.#saved}-${this.#session.nextSeq}`
    const adapted = rank > 0 ? base : undefined
    const fingerprint = adapted === undefined ? undefined : readCheckpointManifest(adapted)?.fingerprint
    const contents = {
      ...note,
      parameters: info.parameters,
      ...(fingerprint === undefined
        ? {}
        : { metadata: { ...note.metadata, [BASE_FINGERPRINT]: fingerprint } }),
    }
    await adoptFiles(folder, contents, async (incoming) => {
      const files = ours
        ? await fetchCheckpoint(this.#transfer(), name, incoming, optimizer)
        : await saveRemotely(wire, this.#session, name, incoming, { baseModel, rank })
      const names = files.map((file) => (typeof file === 'string' ? file : file.path))
      // Other servers may send the whole model instead of the adapter.
      if (adapted !== undefined && names.includes(ADAPTER_CONFIG)) nameBase(incoming, adapted)
      return [...files, ...this.#tokenizerFiles(incoming, names)]
    })
  }

  async load(folder: string, { fresh = false }: LoadOptions = {}): Promise<void> {
    this.#checkOpen()
    const { ours, progress } = this.#parts
    const optimizer = !fresh
    const upload = `coa-${this.#session.modelId}-${this.#session.nextSeq}`
    if (ours)
      await whileLoading(folder, progress, () => sendCheckpoint(this.#transfer(), folder, upload, optimizer))
    else await this.#loadRemotely(folder, optimizer)
    this.#training.discardDeferred()
    this.#sampling.weightsChanged()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#parts.stopHeartbeat()
    // The model is removed with its session anyway; a server that is already gone is not an error here.
    await this.#session.unload().catch(() => undefined)
    this.#session.forgetState()
    this.#parts.wire.close()
  }

  #transfer(): Transfer {
    const { wire, progress } = this.#parts
    return { wire, session: this.#session, progress }
  }

  #checkOpen(): void {
    if (this.#closed) throw new EngineError('The engine is closed.', { fix: 'Open it again.' })
  }

  #newTraining(): Training {
    const { contract, info, ours } = this.#parts
    return new Training(this.#session, contract, info, ours)
  }

  async #publish(number: number): Promise<string> {
    const { sampling_session_id } = await this.#session.numbered<{ sampling_session_id?: string | null }>(
      '/save_weights_for_sampler',
      { sampling_session_seq_id: number },
    )
    if (typeof sampling_session_id === 'string') return sampling_session_id
    throw new EngineError('The server accepted the weights for sampling but returned no session for them.', {
      fix: 'This server has not been tested; see docs/76-trainer.md.',
    })
  }

  /** These servers load weights only into a new model, and some have room for one model. */
  async #loadRemotely(folder: string, optimizer: boolean): Promise<void> {
    const { futures, create, contract } = this.#parts
    const { path } = readRemote(folder)
    if (this.#session.nextSeq > 1) {
      await this.#session.unload()
      const { model_id } = await create(++this.#models)
      this.#session = new ModelSession(futures, model_id)
      this.#session.repeatable = contract.repeatsSafely
      this.#training = this.#newTraining()
    }
    await this.#session.numbered('/load_weights', { path, optimizer })
  }

  #tokenizerFiles(incoming: string, present: readonly string[]): string[] {
    const { tokenizer } = this.#parts
    if (tokenizer === undefined || present.includes('tokenizer.json')) return []
    const files = Object.entries(readTokenizerFiles(tokenizer)).filter(([name]) => !present.includes(name))
    for (const [name, bytes] of files) writeFileSync(join(incoming, name), bytes)
    return files.map(([name]) => name)
  }
}
