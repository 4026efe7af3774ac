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
import { OurSampling } from './sampling-ours.ts'
import { missingThere, PlainSampling } from './sampling-plain.ts'
import { ONLY_ONE, Training } from './training.ts'
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

export interface ModelFacts {
  contextLength: number
  vocabularySize: number
  /** 0 where the server does not tell. */
  parameters: number
  trainedParameters: number
  device: string
}

/** An engine that says what was found about its server. */
export interface TinkerEngine extends Engine {
  readonly contract: LossContract
}

export interface DriverParts {
  wire: Wire
  futures: Futures
  session: ModelSession
  contract: LossContract
  facts: ModelFacts
  ours: boolean
  rank: number
  baseModel: string
  /** The folder of the base model here. */
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
    const { wire, futures, facts, decode, ours } = parts
    const modelId = (): string => this.#session.modelId
    this.#sampling = ours
      ? new OurSampling({ wire, futures, modelId, contextLength: facts.contextLength, decode })
      : new PlainSampling({
          futures,
          contextLength: facts.contextLength,
          publish: (number) => this.#publish(number),
          logprobs: async (tokens, signal) => {
            const examples = tokens.map((each) => ({ tokens: each, weights: each.map(() => 0) }))
            return (await this.#training.forward(examples, signal)).logprobs
          },
        })
  }

  describe(): EngineDescription {
    const { facts, ours, contract } = this.#parts
    const { device, ...numbers } = facts
    const refused = (['cross-entropy', 'policy'] as const)
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
        ...(ours ? {} : { ...missingThere, temperature: ONLY_ONE }),
        ...(refused === undefined ? {} : { train: refused.refused }),
      },
    }
  }

  async sample(request: SampleRequest): Promise<Sample[]> {
    this.#alive()
    request.signal?.throwIfAborted()
    checkRequest(request, this.#parts.facts)
    return this.#sampling.sample(request)
  }

  async forward(
    examples: readonly TrainingExample[],
    signal?: AbortSignal,
    temperature?: number,
  ): Promise<PassResult> {
    this.#alive()
    return this.#training.forward(examples, signal, temperature)
  }

  async forwardBackward(
    examples: readonly TrainingExample[],
    loss: Loss,
    signal?: AbortSignal,
  ): Promise<PassResult> {
    this.#alive()
    return this.#training.forwardBackward(examples, loss, signal)
  }

  async optimStep(settings: AdamSettings): Promise<OptimResult> {
    this.#alive()
    try {
      return await this.#training.optimStep(settings)
    } finally {
      this.#sampling.weightsChanged()
    }
  }

  async save(folder: string, note: CheckpointNote): Promise<void> {
    this.#alive()
    const { wire, facts, ours, base, rank } = this.#parts
    const name = `coa-${this.#session.modelId.replaceAll(/[^a-zA-Z0-9_-]/g, '')}-${++this.#saved}-${this.#session.nextSeq}`
    const adapted = ours && rank > 0 ? base : undefined
    const fingerprint = adapted === undefined ? undefined : readCheckpointManifest(adapted)?.fingerprint
    const contents = {
      ...note,
      parameters: facts.parameters,
      ...(fingerprint === undefined
        ? {}
        : { metadata: { ...note.metadata, [BASE_FINGERPRINT]: fingerprint } }),
    }
    await adoptFiles(folder, contents, async (incoming) => {
      const files = ours
        ? await fetchCheckpoint(wire, this.#session, name, incoming)
        : await this.#saveThere(name, incoming)
      if (adapted !== undefined) nameBase(incoming, adapted)
      return [...files, ...this.#tokenizerFiles(incoming, files)]
    })
  }

  async load(folder: string, { fresh = false }: LoadOptions = {}): Promise<void> {
    this.#alive()
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
    else await this.#loadThere(folder, optimizer)
    this.#training.forget()
    this.#sampling.weightsChanged()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#parts.stopHeartbeat()
    // The model goes with its session anyway; a server that is gone already is no failure here.
    await this.#session.unload().catch(() => undefined)
    this.#session.forgetState()
  }

  #alive(): void {
    if (this.#closed) throw new EngineError('The engine is closed.', { fix: 'Open it again.' })
  }

  #newTraining(): Training {
    const { contract, facts, ours } = this.#parts
    return new Training(this.#session, contract, facts, ours)
  }

  async #publish(number: number): Promise<string> {
    const { sampling_session_id } = await this.#session.numbered<{ sampling_session_id?: string | null }>(
      '/save_weights_for_sampler',
      { sampling_session_seq_id: number },
    )
    if (typeof sampling_session_id === 'string') return sampling_session_id
    throw new EngineError('The server took the weights for sampling and gave no session for them.', {
      fix: 'This server is not among those tried; see docs/76-trainer.md.',
    })
  }

  /** The weights stay on the server; what can be had of them, the adapter, is fetched too. */
  async #saveThere(name: string, incoming: string): Promise<string[]> {
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

  /** These servers load weights only into a model that has done nothing yet. */
  async #loadThere(folder: string, optimizer: boolean): Promise<void> {
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
