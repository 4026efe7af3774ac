import { availableParallelism } from 'node:os'
import { EngineError } from '../checkpoint/index.ts'
import { type Device, type Library, OnnxRuntime, type Runtime } from './runtime.ts'

export interface RuntimeOptions {
  /** 'cpu' falls back to 'wasm' where the native library is missing. */
  device?: Device
  /** Default: the machine's cores, at most 8. */
  threads?: number
}

/** Opens onnxruntime: the native library where it is installed, else the one compiled to WebAssembly. */
export async function openRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const threads = options.threads ?? Math.min(8, availableParallelism())
  const device = options.device ?? 'cpu'
  if (device === 'wasm') return new OnnxRuntime(await webLibrary(threads), 'wasm', threads)
  const native = await nativeLibrary()
  if (native !== undefined) return new OnnxRuntime(native, device, threads)
  if (device === 'webgpu') {
    throw new EngineError('The WebGPU device needs onnxruntime-node, which is not installed here.', {
      fix: 'Install it with: ONNXRUNTIME_NODE_INSTALL=skip npm install onnxruntime-node',
    })
  }
  return new OnnxRuntime(await webLibrary(threads), 'wasm', threads)
}

async function nativeLibrary(): Promise<Library | undefined> {
  try {
    return asLibrary(await import('onnxruntime-node'))
  } catch {
    return undefined
  }
}

async function webLibrary(threads: number): Promise<Library> {
  const web = await import('onnxruntime-web')
  web.env.wasm.numThreads = threads
  return asLibrary(web)
}

/** Both are CommonJS underneath, so their names may stand on the default export. */
function asLibrary(module: object): Library {
  const { default: inner } = module as { default?: object }
  return ('InferenceSession' in module ? module : inner) as Library
}
