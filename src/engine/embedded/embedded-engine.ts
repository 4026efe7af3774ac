import { Worker } from 'node:worker_threads'
import { type Boundary, CoaError } from '../../base/errors/index.ts'
import { EngineError } from '../checkpoint/index.ts'
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
import type { EmbeddedOptions } from './embedded-core.ts'
import type { CallName, Calls, Failure, FromWorker, ToWorker } from './messages.ts'
import { disableTelemetry } from './telemetry.ts'
import { threadFlags } from './thread-flags.ts'

interface Pending {
  resolve: (result: never) => void
  reject: (cause: unknown) => void
  request: SampleRequest | undefined
}

/**
 * Opens a model in a thread of this process. The engine's library is downloaded to the user's cache folder when it is first
 * needed; `coa engine install` does it in advance.
 *
 * @example
 * import { openEmbedded, openTokenizer } from 'chain-of-agents/engine'
 *
 * const engine = await openEmbedded({ model: 'models/mine' })
 * const tokenizer = await openTokenizer('models/mine')
 * const [sample] = await engine.sample({ prompt: tokenizer.encodeIds('one two'), maxTokens: 20 })
 * console.log(tokenizer.decode(sample!.tokens))
 * await engine.close()
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Engine> {
  const engine = new EmbeddedEngine()
  try {
    await engine.open(options)
  } catch (cause) {
    await engine.end()
    throw cause
  }
  return engine
}

class EmbeddedEngine implements Engine {
  readonly worker: Worker
  readonly #pending = new Map<number, Pending>()
  #calls = 0
  #description: EngineDescription | undefined
  /** Set once the engine is closed or has failed. */
  #ended: EngineError | undefined

  constructor() {
    disableTelemetry()
    // The same file in source and build; only the extension differs.
    const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    this.worker = new Worker(new URL(`./worker.${ending}`, import.meta.url), { execArgv: threadFlags() })
    this.worker.on('message', (message: FromWorker) => this.#receive(message))
    this.worker.on('error', (cause) => this.#fail(cause.message))
    this.worker.on('exit', (code) => this.#fail(`exit code ${code}`))
    // An idle engine does not keep the process alive.
    this.worker.unref()
  }

  async open(options: EmbeddedOptions): Promise<void> {
    this.#description = await this.#call('open', options)
  }

  describe(): EngineDescription {
    return this.#description!
  }

  sample(request: SampleRequest): Promise<Sample[]> {
    const { allowed, onToken, signal, prompt, ...rest } = request
    const wire = {
      ...rest,
      prompt: Int32Array.from(prompt),
      hasMask: allowed !== undefined,
      streamsTokens: onToken !== undefined,
    }
    return this.#call('sample', wire, signal, request)
  }

  forward(
    examples: readonly TrainingExample[],
    signal?: AbortSignal,
    temperature?: number,
  ): Promise<PassResult> {
    return this.#call('pass', { examples, passLoss: { kind: 'none', temperature } }, signal)
  }

  forwardBackward(
    examples: readonly TrainingExample[],
    loss: Loss,
    signal?: AbortSignal,
  ): Promise<PassResult> {
    return this.#call('pass', { examples, passLoss: loss }, signal)
  }

  optimStep(settings: AdamSettings): Promise<OptimResult> {
    return this.#call('optimStep', settings)
  }

  async save(folder: string, note: CheckpointNote, options?: SaveOptions): Promise<void> {
    await this.#call('save', { folder, note, options })
  }

  async load(folder: string, options?: LoadOptions): Promise<void> {
    await this.#call('load', { folder, options })
  }

  async close(): Promise<void> {
    if (this.#ended !== undefined) return
    await this.#call('close', undefined)
    await this.end()
  }

  async end(): Promise<void> {
    this.#ended ??= new EngineError('The engine is closed.', { fix: 'Open it again.' })
    await this.worker.terminate()
  }

  async #call<Name extends CallName>(
    name: Name,
    args: Calls[Name]['args'],
    signal?: AbortSignal,
    request?: SampleRequest,
  ): Promise<Calls[Name]['result']> {
    if (this.#ended !== undefined) throw this.#ended
    signal?.throwIfAborted()
    const id = this.#calls++
    const abort = (): void => this.#post({ kind: 'abort', id })
    signal?.addEventListener('abort', abort)
    this.worker.ref()
    try {
      return await new Promise<Calls[Name]['result']>((resolve, reject) => {
        this.#pending.set(id, { resolve, reject, request })
        this.#post({ kind: 'call', id, name, args })
      })
    } catch (cause) {
      signal?.throwIfAborted()
      throw cause
    } finally {
      signal?.removeEventListener('abort', abort)
      this.#pending.delete(id)
      if (this.#pending.size === 0) this.worker.unref()
    }
  }

  #post(message: ToWorker): void {
    this.worker.postMessage(message)
  }

  #receive(message: FromWorker): void {
    const pending = this.#pending.get(message.id)
    switch (message.kind) {
      case 'result':
        pending?.resolve(message.result as never)
        break
      case 'failure':
        pending?.reject(errorOf(message.failure))
        break
      case 'token':
        pending?.request?.onToken?.(message.token, message.sample)
        break
      case 'status':
        // The channel that Node has for a library to tell its user something; the command prints it as a plain line.
        process.emitWarning(message.line, 'EngineInstall')
        break
      case 'allowed':
        this.#sendMask(message.maskId, () => pending?.request?.allowed?.(message.tokens, message.sample))
    }
  }

  #sendMask(maskId: number, mask: () => Uint8Array | undefined): void {
    try {
      this.#post({ kind: 'mask', maskId, mask: mask() })
    } catch (cause) {
      this.#post({ kind: 'mask', maskId, mask: undefined, failure: String(cause) })
    }
  }

  /** The thread has ended: rejects pending and future calls. */
  #fail(why: string): void {
    this.#ended ??= new EngineError(`The engine's thread stopped: ${why}.`, {
      fix: 'Reopen the engine from the last checkpoint, which is intact; if memory ran out, use smaller batches.',
    })
    for (const { reject } of this.#pending.values()) reject(this.#ended)
  }
}

function errorOf({ name, message, boundary, options }: Failure): Error {
  if (boundary === 'engine') return new EngineError(message, options)
  if (boundary !== undefined) return new CoaError(boundary as Boundary, message, options)
  return Object.assign(new Error(message), { name })
}
