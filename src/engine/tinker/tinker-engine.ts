import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkRequest } from '../check-request.ts'
import {
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
  TrainingExample,
} from '../contract.ts'
import type { Futures } from './futures.ts'
import { type LossContract, routeOf } from './loss-contract.ts'
import { ModelSession } from './model-session.ts'
import type { CreatedModel } from './protocol-types.ts'
import type { Sampling } from './sampling.ts'
import { ProtocolSampling, unsupportedByProtocol } from './sampling-protocol.ts'
import { TrainerSampling } from './sampling-trainer.ts'
import { TEMPERATURE_ONE_ONLY, Training } from './training.ts'
import {
  download,
  fetchCheckpoint,
  nameBase,
  REMOTE_FILE,
  type RemoteCheckpoint,
  readRemote,
  sendCheckpoint,
} from './transfer.ts'
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
      ? new TrainerSampling({ wire, futures, modelId, contextLength: info.contextLength, decode })
      : new ProtocolSampling({
          futures,
          contextLength: info.contextLength,
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

  async save(folder: string, note: CheckpointNote): Promise<void> {
    this.#checkOpen()
    const { wire, info, ours, base, rank } = this.#parts
    const name = `coa-${this.#session.modelId.replaceAll(/[^a-zA-Z0-9_-]/g, '')}-${++this.#saved}-${this.#session.nextSeq}`
    const adapted = ours && rank > 0 ? base : undefined
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
        ? await fetchCheckpoint(wire, this.#session, name, incoming)
        : await this.#saveRemotely(name, incoming)
      if (adapted !== undefined) nameBase(incoming, adapted)
      return [...files, ...this.#tokenizerFiles(incoming, files)]
    })
  }

  async load(folder: string, { fresh = false }: LoadOptions = {}): Promise<void> {
    this.#checkOpen()
    const { wire, ours } = this.#parts
    const optimizer = !fresh
    if (ours)
      await sendCheckpoint(
        wire,
        this.#session,
        folder,
        `coa-${this.#session.modelId}-${this.#session.nextSeq}`,
        optimizer,
      )
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

  /** The weights stay on the server; the adapter is downloaded too. */
  async #saveRemotely(name: string, incoming: string): Promise<string[]> {
    const { wire, baseModel, rank } = this.#parts
    const { path } = await this.#session.numbered<{ path: string }>('/save_weights', { path: name })
    const remote: RemoteCheckpoint = { v: 1, url: wire.base, path, baseModel, rank }
    writeFileSync(join(incoming, REMOTE_FILE), `${JSON.stringify(remote, null, 2)}\n`)
    const sampler = `${name}-adapter`
    await this.#session.numbered('/save_weights_for_sampler', { path: sampler })
    const archive = `/training_runs/${this.#session.modelId}/checkpoints/${sampler}/archive`
    await download(wire, archive, join(incoming, 'adapter.tar.gz'))
    return [REMOTE_FILE, 'adapter.tar.gz']
  }

  /** These servers load weights only into a new model. */
  async #loadRemotely(folder: string, optimizer: boolean): Promise<void> {
    const { futures, create, contract } = this.#parts
    const { path } = readRemote(folder)
    const { model_id } = await create(++this.#models)
    const session = new ModelSession(futures, model_id)
    session.repeatable = contract.repeatsSafely
    await session.numbered('/load_weights', { path, optimizer })
    const old = this.#session
    this.#session = session
    this.#training = this.#newTraining()
    await old.unload().catch(() => undefined)
  }

  #tokenizerFiles(incoming: string, present: readonly string[]): string[] {
    const { tokenizer } = this.#parts
    if (tokenizer === undefined || present.includes('tokenizer.json')) return []
    const files = Object.entries(readTokenizerFiles(tokenizer)).filter(([name]) => !present.includes(name))
    for (const [name, bytes] of files) writeFileSync(join(incoming, name), bytes)
    return files.map(([name]) => name)
  }
}
