import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { checkExamples } from '../check-examples.ts'
import {
  adapterOf,
  type ElementType,
  EngineError,
  existingFolder,
  type ModelShape,
  type OptimizerState,
  openCheckpoint,
  parameterCount,
  randomWeights,
  readOptimizerState,
  readTokenizerFiles,
  type StoredTensor,
  type StoredTensors,
  saveAdapter,
  saveCheckpoint,
  withMasterWeights,
} from '../checkpoint/index.ts'
import type {
  AdamSettings,
  CheckpointNote,
  EngineDescription,
  LoadOptions,
  OptimResult,
  PassResult,
  Sample,
  SaveOptions,
  TrainingExample,
} from '../contract.ts'
import { decoder } from '../decoder.ts'
import { freshAdapters, type LoraSettings } from './llama/lora.ts'
import { parameterShapes } from './llama/parameter-shapes.ts'
import { savedAdapters } from './llama/saved-adapters.ts'
import { openRuntime } from './open-runtime.ts'
import { type NamedParameter, ParameterStore } from './parameter-store.ts'
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
  /** Train LoRA adapters and freeze the weights, which must be in a folder: saved adapters refer to it. */
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
  /** That of the model's folder; checkpoints are stored in it. */
  readonly #elementType: ElementType
  /** Tail of the queue: operations that use weights or cache run one at a time. */
  #last: Promise<unknown> = Promise.resolve()
  #sampling = false

  private constructor(
    runtime: Runtime,
    shape: ModelShape,
    weights: StoredTensors,
    options: EmbeddedOptions,
    elementType: ElementType,
    decode: (ids: ArrayLike<number>) => string,
  ) {
    this.#runtime = runtime
    this.#shape = shape
    this.#options = options
    this.#elementType = elementType
    const { lora } = options
    this.#store = new ParameterStore(runtime, parameterShapes(shape, lora), weights, lora)
    this.#trainer = new Trainer(runtime, shape, this.#store, options)
    this.#sampler = new Sampler(runtime.host, shape, this.#store, { ...options, decode })
  }

  static async open(options: EmbeddedOptions, onStatus?: (line: string) => void): Promise<EmbeddedCore> {
    const { model, lora } = options
    if (typeof model !== 'string' && lora !== undefined) {
      throw new EngineError('LoRA needs the folder of a model as its base.', {
        fix: 'Save the model first (`coa model new FOLDER`) and open that folder.',
      })
    }
    // An adapter that will be trained further is kept separate; otherwise it is merged into its base.
    const adapter = typeof model === 'string' && lora !== undefined ? adapterOf(model) : undefined
    const opened =
      typeof model === 'string'
        ? openCheckpoint(adapter?.base ?? model)
        : {
            shape: model.shape,
            weights: randomWeights(model.shape, model.seed),
            elementType: 'F32' as const,
          }
    const tokenizerFolder = tokenizerOf(options)
    const runtime = await openRuntime(options, onStatus)
    const weights = new Map([
      ...opened.weights,
      ...(lora === undefined ? [] : adaptersIn(adapter?.folder, opened.shape, lora)),
    ])
    const decode = await decoder(tokenizerFolder)
    return new EmbeddedCore(runtime, opened.shape, weights, options, opened.elementType, decode)
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

  save(folder: string, note: CheckpointNote, { optimizer = true }: SaveOptions = {}): Promise<void> {
    return this.#enqueue(async () => {
      const { lora, model } = this.#options
      const from = tokenizerOf(this.#options)
      const contents = {
        ...note,
        ...(optimizer ? { optimizer: this.#optimizerState() } : {}),
        ...(from === undefined ? {} : { files: readTokenizerFiles(from) }),
      }
      if (lora === undefined) {
        saveCheckpoint(folder, {
          ...contents,
          shape: this.#shape,
          weights: this.#store.stored(),
          elementType: this.#elementType,
        })
        return
      }
      const base = adapterOf(model as string)?.base ?? existingFolder(model as string)
      const adapters = new Map(
        this.#store.trained.map((parameter) => [parameter.name, this.#trained(parameter)]),
      )
      const { rank, alpha } = lora
      saveAdapter(folder, {
        ...contents,
        base,
        rank,
        alpha,
        adapters,
        parameters: parameterCount(this.#shape),
      })
    })
  }

  load(folder: string, { fresh = false }: LoadOptions = {}): Promise<void> {
    return this.#enqueue(async () => {
      const { lora } = this.#options
      const { folder: found, shape, weights } = openCheckpoint(folder)
      if (JSON.stringify(shapeKey(shape)) !== JSON.stringify(shapeKey(this.#shape))) {
        throw new EngineError(`${folder} has a different shape than the open model.`, {
          fix: 'Open it as a separate model.',
        })
      }
      const state = fresh ? undefined : readOptimizerState(found)
      if (lora === undefined) this.#store.load(withMasterWeights(weights, state))
      else this.#loadAdapters(folder, lora)
      this.#loadOptimizer(state)
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
      if (this.#options.lora === undefined && this.#elementType !== 'F32')
        tensors.set(`master ${name}`, this.#trained(parameter))
    }
    return { step: adam.step, tensors, metadata: { optimizer: 'adamw' } }
  }

  #trained(parameter: NamedParameter): StoredTensor {
    const values = this.#store.part(this.#store.weights, parameter).slice()
    return { shape: parameter.shape, values }
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

  #loadAdapters(folder: string, lora: LoraSettings): void {
    const found = adapterOf(folder)
    const isSame = found !== undefined && found.rank === lora.rank && found.alpha === lora.alpha
    if (!isSame) {
      throw new EngineError(`${folder} has no adapter of the rank and alpha being trained.`, {
        fix: 'Open it as a separate model, with the rank it was trained with.',
      })
    }
    const saved = savedAdapters(found.folder, this.#shape, lora)
    for (const { name } of this.#store.trained)
      (this.#store.values.get(name)!.data as Float32Array).set(saved.get(name)!.values)
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
