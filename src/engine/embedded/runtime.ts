import { EngineError } from '../checkpoint/index.ts'
import type { Graph } from './graph/graph.ts'
import { neededInputs, toOnnx } from './onnx/emit.ts'

export type Data = Float32Array | BigInt64Array | Int32Array

/** A tensor as the runtime takes it. It stands on the array it was made of; nothing is copied. */
export interface Value {
  readonly data: Data
  readonly dims: readonly number[]
}

export interface Program {
  /** Names the program takes; others are left out of what is fed. */
  readonly takes: ReadonlySet<string>
  /** Runs on the inputs and writes into the outputs. */
  run(inputs: ReadonlyMap<string, Value>, outputs: ReadonlyMap<string, Value>): Promise<void>
  release(): Promise<void>
}

export type Device = 'cpu' | 'wasm' | 'webgpu'

export interface Runtime {
  readonly device: Device
  readonly threads: number
  value(data: Data, dims: readonly number[]): Value
  load(graph: Graph): Promise<Program>
}

/** The part of onnxruntime's interface that is used, which its packages for Node and for the web share. */
export interface Library {
  Tensor: new (type: string, data: Data, dims: readonly number[]) => Value
  InferenceSession: {
    create(model: Uint8Array, options: Record<string, unknown>): Promise<Session>
  }
}

interface Session {
  run(feeds: Record<string, Value>, fetches: Record<string, Value>): Promise<Record<string, Value>>
  release(): Promise<void>
}

export function typeOf(data: Data): string {
  if (data instanceof Float32Array) return 'float32'
  return data instanceof Int32Array ? 'int32' : 'int64'
}

/** Runs graphs with onnxruntime. */
export class OnnxRuntime implements Runtime {
  readonly device: Device
  readonly threads: number
  readonly #library: Library

  constructor(library: Library, device: Device, threads: number) {
    this.#library = library
    this.device = device
    this.threads = threads
  }

  value(data: Data, dims: readonly number[]): Value {
    return new this.#library.Tensor(typeOf(data), data, dims)
  }

  async load(graph: Graph): Promise<Program> {
    let session: Session
    try {
      session = await this.#library.InferenceSession.create(toOnnx(graph), {
        executionProviders: [this.device],
        intraOpNumThreads: this.threads,
        interOpNumThreads: 1,
        executionMode: 'sequential',
        graphOptimizationLevel: 'basic',
        // Every shape is fixed, so one plan of memory serves every run.
        enableMemPattern: true,
        logSeverityLevel: 3,
      })
    } catch (cause) {
      throw new EngineError(`onnxruntime refused a graph: ${(cause as Error).message}`, {
        fix: 'Run coa engine contract to see what this machine can do, and report the message.',
        cause,
      })
    }
    // The native library writes into the arrays it is given; the one for the web returns its own.
    return new OnnxProgram(session, neededInputs(graph), this.device === 'cpu')
  }
}

class OnnxProgram implements Program {
  readonly takes: ReadonlySet<string>
  readonly #session: Session
  readonly #writesInPlace: boolean

  constructor(session: Session, inputs: string[], writesInPlace: boolean) {
    this.#session = session
    this.#writesInPlace = writesInPlace
    this.takes = new Set(inputs)
  }

  async run(inputs: ReadonlyMap<string, Value>, outputs: ReadonlyMap<string, Value>): Promise<void> {
    const feeds: Record<string, Value> = {}
    for (const name of this.takes) {
      const value = inputs.get(name)
      if (value === undefined) throw new EngineError(`a graph was run without its input ${name}`)
      feeds[name] = value
    }
    const results = await this.#session.run(feeds, Object.fromEntries(outputs))
    if (this.#writesInPlace) return
    for (const [name, { data }] of outputs) data.set(results[name]!.data as never)
  }

  release(): Promise<void> {
    return this.#session.release()
  }
}
