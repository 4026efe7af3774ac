import { isMainThread } from 'node:worker_threads'
import { EngineError } from '../checkpoint/index.ts'
import type { Graph } from './graph/graph.ts'
import { neededInputs, toOnnx } from './onnx/emit.ts'
import { forWebGpu } from './onnx/for-webgpu.ts'

export type Data = Float32Array | BigInt64Array | Int32Array

/** A tensor for the runtime. It is a view of its array; nothing is copied. */
export interface Value {
  readonly data: Data
  readonly dims: readonly number[]
}

export interface Program {
  /** Names of the program's inputs; others are ignored. */
  readonly takes: ReadonlySet<string>
  /** Runs on the inputs and writes to the outputs. A map that is passed again must contain the same values. */
  run(inputs: ReadonlyMap<string, Value>, outputs: ReadonlyMap<string, Value>): Promise<void>
  release(): Promise<void>
}

export type Device = 'cpu' | 'wasm' | 'webgpu'

export interface Runtime {
  readonly device: Device
  readonly threads: number
  /** Device description for display. */
  readonly label: string
  /**
   * A runtime on the CPU, for work where copying to another device costs more than it saves. The same runtime if there is
   * no other device. Values work with both.
   */
  readonly host: Runtime
  /** A single-threaded variant, for work that is itself split over threads. */
  readonly single: Runtime
  value(data: Data, dims: readonly number[]): Value
  load(graph: Graph): Promise<Program>
}

/** The part of onnxruntime's interface that is used; its packages for Node and the web share it. */
export interface Library {
  Tensor: new (type: string, data: Data, dims: readonly number[]) => Value
  InferenceSession: {
    create(model: Uint8Array, options: Record<string, unknown>): Promise<Session>
  }
}

interface Session {
  run(feeds: Record<string, Value>, fetches: Record<string, Value> | string[]): Promise<Record<string, Value>>
  release(): Promise<void>
}

/**
 * Denormal floats are a hundred times slower on a CPU, and every masked attention score passes through them: flushing
 * them to 0 saves a sixth of training time. It affects everything the calling thread computes, JavaScript included, so it
 * is enabled only in the engine's own threads.
 */
const flushDenormals = isMainThread ? '0' : '1'

function typeOf(data: Data): string {
  if (data instanceof Float32Array) return 'float32'
  return data instanceof Int32Array ? 'int32' : 'int64'
}

/** Runs graphs with onnxruntime. */
export class OnnxRuntime implements Runtime {
  readonly device: Device
  readonly threads: number
  readonly label: string
  readonly single: Runtime
  readonly host: Runtime
  readonly #library: Library

  constructor(library: Library, device: Device, threads: number, note?: string) {
    this.#library = library
    this.device = device
    this.threads = threads
    this.label = `${device}, ${threads} threads${note === undefined ? '' : ` (${note})`}`
    this.single = device === 'cpu' && threads > 1 ? new OnnxRuntime(library, 'cpu', 1) : this
    this.host = device === 'webgpu' ? new OnnxRuntime(library, 'cpu', threads) : this
  }

  value(data: Data, dims: readonly number[]): Value {
    return new this.#library.Tensor(typeOf(data), data, dims)
  }

  async load(graph: Graph): Promise<Program> {
    const runnable = this.device === 'webgpu' ? forWebGpu(graph) : graph
    let session: Session
    try {
      session = await this.#library.InferenceSession.create(toOnnx(runnable), {
        executionProviders: [this.device],
        intraOpNumThreads: this.threads,
        interOpNumThreads: 1,
        executionMode: 'sequential',
        graphOptimizationLevel: 'basic',
        // Every shape is fixed, so one memory plan serves every run.
        enableMemPattern: true,
        logSeverityLevel: 3,
        extra: { session: { set_denormal_as_zero: flushDenormals } },
      })
    } catch (cause) {
      throw new EngineError(`onnxruntime rejected a graph: ${(cause as Error).message}`, {
        fix: 'Run coa engine contract to see what this machine supports, and report the message.',
        cause,
      })
    }
    // The native library writes to the given arrays; the web version allocates new ones.
    return new OnnxProgram(session, neededInputs(graph), this.device !== 'wasm')
  }
}

class OnnxProgram implements Program {
  readonly takes: ReadonlySet<string>
  readonly #session: Session
  readonly #writesInPlace: boolean
  /** Cached conversions of maps that are passed repeatedly, as in decoding. */
  readonly #records = new WeakMap<ReadonlyMap<string, Value>, Record<string, Value>>()

  constructor(session: Session, inputs: string[], writesInPlace: boolean) {
    this.#session = session
    this.#writesInPlace = writesInPlace
    this.takes = new Set(inputs)
  }

  async run(inputs: ReadonlyMap<string, Value>, outputs: ReadonlyMap<string, Value>): Promise<void> {
    const feeds = this.#feedsOf(inputs)
    if (this.#writesInPlace) {
      await this.#session.run(feeds, this.#fetchesOf(outputs))
      return
    }
    const results = await this.#session.run(feeds, [...outputs.keys()])
    for (const [name, { data }] of outputs) data.set(results[name]!.data as never)
  }

  release(): Promise<void> {
    return this.#session.release()
  }

  #feedsOf(inputs: ReadonlyMap<string, Value>): Record<string, Value> {
    const known = this.#records.get(inputs)
    if (known !== undefined) return known
    const feeds: Record<string, Value> = {}
    for (const name of this.takes) {
      const value = inputs.get(name)
      if (value === undefined) throw new EngineError(`a graph was run without its input ${name}`)
      feeds[name] = value
    }
    this.#records.set(inputs, feeds)
    return feeds
  }

  #fetchesOf(outputs: ReadonlyMap<string, Value>): Record<string, Value> {
    const known = this.#records.get(outputs)
    if (known !== undefined) return known
    const fetches = Object.fromEntries(outputs)
    this.#records.set(outputs, fetches)
    return fetches
  }
}
