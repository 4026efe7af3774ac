import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { checkExamples } from '../check-examples.ts'
import {
  adapterOf,
  EngineError,
  type ModelShape,
  type OptimizerState,
  openCheckpoint,
  parameterCount,
  randomWeights,
  readOptimizerState,
  readTokenizerFiles,
  type StoredTensors,
  saveCheckpoint,
} from '../checkpoint/index.ts'
import type {
  AdamSettings,
  CheckpointNote,
  EngineDescription,
  LoadOptions,
  OptimResult,
  PassResult,
  Sample,
  TrainingExample,
} from '../contract.ts'
import { decoder } from '../decoder.ts'
import { freshAdapters, type LoraSettings, merged } from './llama/lora.ts'
import { parameterShapes } from './llama/parameter-shapes.ts'
import { savedAdapters } from './llama/saved-adapters.ts'
import { openRuntime } from './open-runtime.ts'
import { ParameterStore } from './parameter-store.ts'
import type { Device, Runtime } from './runtime.ts'
import type { SamplerRequest } from './sampling/job.ts'
import { Sampler } from './sampling/sampler.ts'
import type { PassLoss } from './training/pass-loss.ts'
import { Trainer } from './training/trainer.ts'

export interface EmbeddedOptions {
  /** A folder in the Hugging Face layout, or a shape for a randomly initialized model. */
  model: string | { shape: ModelShape; seed: number }
  /** A tokenizer folder, if the model has none. Needed for stop strings; saved with checkpoints. */
  tokenizer?: string
  device?: Device
  threads?: number
  /** Train LoRA adapters and freeze the weights. */
  lora?: LoraSettings
  /** Tokens per training batch. */
  batchTokens?: number
  /** Activation checkpointing: recompute layers in the backward pass; less memory, more time. */
  recompute?: boolean
  cacheBytes?: number
  maxRows?: number
}

/** The engine without its own thread: it blocks the thread it runs on. */
export class EmbeddedCore {
  readonly #runtime: Runtime
  readonly #shape: ModelShape
  readonly #store: ParameterStore
  readonly #trainer: Trainer
  readonly #sampler: Sampler
  readonly #options: EmbeddedOptions
  /** Tail of the queue: operations that use weights or cache run one at a time. */
  #last: Promise<unknown> = Promise.resolve()
  #sampling = false

  private constructor(
    runtime: Runtime,
    shape: ModelShape,
    weights: StoredTensors,
    options: EmbeddedOptions,
    decode: (ids: ArrayLike<number>) => string,
  ) {
    this.#runtime = runtime
    this.#shape = shape
    this.#options = options
    const { lora } = options
    this.#store = new ParameterStore(runtime, parameterShapes(shape, lora), weights, lora)
    this.#trainer = new Trainer(runtime, shape, this.#store, options)
    this.#sampler = new Sampler(runtime.host, shape, this.#store, { ...options, decode })
  }

  static async open(options: EmbeddedOptions): Promise<EmbeddedCore> {
    const { model, lora } = options
    // An adapter that will be trained further is kept separate; otherwise it is merged into its base.
    const adapter = typeof model === 'string' && lora !== undefined ? adapterOf(model) : undefined
    const opened =
      typeof model === 'string'
        ? openCheckpoint(adapter?.base ?? model)
        : { shape: model.shape, weights: randomWeights(model.shape, model.seed) }
    const tokenizerFolder = tokenizerOf(options)
    const runtime = await openRuntime(options)
    const weights = new Map([
      ...opened.weights,
      ...(lora === undefined ? [] : adaptersIn(adapter?.folder, opened.shape, lora)),
    ])
    const decode = await decoder(tokenizerFolder)
    return new EmbeddedCore(runtime, opened.shape, weights, options, decode)
  }

  describe(): EngineDescription {
    return {
      driver: 'embedded',
      device: this.#runtime.label,
      contextLength: this.#shape.contextLength,
      vocabularySize: this.#shape.vocabularySize,
      parameters: parameterCount(this.#shape),
      trainedParameters: this.#store.weights.length,
      lossIs: 'sum',
      missing: {},
    }
  }

  async sample(request: SamplerRequest): Promise<Sample[]> {
    const done = this.#sampler.add(request)
    void this.#runSampler()
    return done
  }

  pass(examples: readonly TrainingExample[], passLoss: PassLoss, signal?: AbortSignal): Promise<PassResult> {
    checkExamples(examples, passLoss, this.#shape)
    return this.#enqueue(() =>
      this.#trainer.pass(examples, passLoss, () => {
        signal?.throwIfAborted()
        return undefined
      }),
    )
  }

  optimStep(settings: AdamSettings): Promise<OptimResult> {
    return this.#enqueue(async () => {
      const result = await this.#trainer.step(settings)
      this.#sampler.weightsChanged()
      return result
    })
  }

  save(folder: string, note: CheckpointNote): Promise<void> {
    return this.#enqueue(async () => {
      const from = tokenizerOf(this.#options)
      saveCheckpoint(folder, {
        ...note,
        shape: this.#shape,
        weights: merged(this.#store.stored(), this.#options.lora),
        optimizer: this.#optimizerState(),
        ...(from === undefined ? {} : { files: readTokenizerFiles(from) }),
      })
    })
  }

  load(folder: string, { fresh = false }: LoadOptions = {}): Promise<void> {
    return this.#enqueue(async () => {
      const { folder: found, shape, weights } = openCheckpoint(folder)
      if (JSON.stringify(shapeKey(shape)) !== JSON.stringify(shapeKey(this.#shape))) {
        throw new EngineError(`${folder} has a different shape than the open model.`, {
          fix: 'Open it as a separate model.',
        })
      }
      const state = readOptimizerState(found)
      if (this.#options.lora === undefined) this.#store.load(weights)
      else this.#loadAdapters(folder, state)
      this.#loadOptimizer(fresh ? undefined : state)
      this.#trainer.clearGradients()
      this.#sampler.weightsChanged()
    })
  }

  async close(): Promise<void> {
    await this.#enqueue(async () => {
      await this.#sampler.release()
      await this.#trainer.release()
    })
  }

  /** Runs tasks one at a time; a failure does not block later ones. */
  #enqueue<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task)
    this.#last = result.catch(() => undefined)
    return result
  }

  async #runSampler(): Promise<void> {
    if (this.#sampling) return
    this.#sampling = true
    while (!this.#sampler.idle) {
      await this.#enqueue(() => this.#sampler.step())
      // Lets new requests and other work run between two steps.
      await new Promise(setImmediate)
    }
    this.#sampling = false
  }

  #optimizerState(): OptimizerState {
    const { adam } = this.#trainer
    const tensors: StoredTensors = new Map()
    for (const parameter of this.#store.trained) {
      const { name, shape } = parameter
      tensors.set(`first ${name}`, { shape, values: this.#store.part(adam.first, parameter).slice() })
      tensors.set(`second ${name}`, { shape, values: this.#store.part(adam.second, parameter).slice() })
      if (this.#options.lora !== undefined)
        tensors.set(`adapter ${name}`, {
          shape,
          values: this.#store.part(this.#store.weights, parameter).slice(),
        })
    }
    return { step: adam.step, tensors, metadata: { optimizer: 'adamw' } }
  }

  #loadOptimizer(state: OptimizerState | undefined): void {
    const { adam } = this.#trainer
    const fits = this.#store.trained.every(
      ({ name, shape }) => String(state?.tensors.get(`first ${name}`)?.shape) === String(shape),
    )
    adam.step = fits ? state!.step : 0
    for (const parameter of this.#store.trained) {
      const { name } = parameter
      for (const [which, array] of [
        ['first', adam.first],
        ['second', adam.second],
      ] as const) {
        const part = this.#store.part(array, parameter)
        if (fits) part.set(state!.tensors.get(`${which} ${name}`)!.values)
        else part.fill(0)
      }
    }
  }

  #loadAdapters(folder: string, state: OptimizerState | undefined): void {
    const found = adapterOf(folder)
    const saved =
      found === undefined ? undefined : savedAdapters(found.folder, this.#shape, this.#options.lora!)
    for (const { name } of this.#store.trained) {
      const adapter = saved === undefined ? state?.tensors.get(`adapter ${name}`) : saved.get(name)
      const target = this.#store.values.get(name)!.data as Float32Array
      if (adapter?.values.length !== target.length) {
        throw new EngineError(`${folder} has no adapters of the rank being trained.`, {
          fix: 'Open it as a separate model, with the rank it was trained with.',
        })
      }
      target.set(adapter.values)
    }
  }
}

function adaptersIn(folder: string | undefined, shape: ModelShape, lora: LoraSettings): StoredTensors {
  return folder === undefined ? freshAdapters(shape, lora) : savedAdapters(folder, shape, lora)
}

/** A model without a tokenizer can still be trained and sampled by token ids. */
function tokenizerOf({ tokenizer, model }: EmbeddedOptions): string | undefined {
  if (tokenizer !== undefined || typeof model !== 'string') return tokenizer
  return existsSync(join(model, 'tokenizer.json')) ? model : undefined
}

/** The fields that must match for weights to be compatible. */
function shapeKey({ endTokens, beginToken, padToken, initializerRange, ...rest }: ModelShape): object {
  return rest
}
