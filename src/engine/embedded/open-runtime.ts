import { availableParallelism } from 'node:os'
import { EngineError } from '../checkpoint/index.ts'
import { installNative } from './native-package.ts'
import { type Device, type Library, OnnxRuntime, type Runtime } from './runtime.ts'
import { trustWebGpu } from './webgpu-trust.ts'

export interface RuntimeOptions {
  /** 'cpu' falls back to 'wasm' where the native library is missing. */
  device?: Device
  /** Default: the machine's cores, at most 8. */
  threads?: number
}

/** Opens onnxruntime: the native library where it is installed, else the one compiled to WebAssembly. */
export async function openRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const { device = 'cpu', threads = Math.min(8, availableParallelism()) } = options
  if (device === 'wasm') return new OnnxRuntime(await webLibrary(threads), 'wasm', threads)
  const { library, missing } = await nativeLibrary()
  if (device === 'webgpu') {
    if (library === undefined) {
      throw new EngineError(`The WebGPU device needs the native library: ${missing}.`, {
        fix: `Install it with: ${installNative}`,
      })
    }
    await trustWebGpu()
    return new OnnxRuntime(library, 'webgpu', threads, 'samples and optimiser: cpu')
  }
  if (library !== undefined) return new OnnxRuntime(library, 'cpu', threads)
  return new OnnxRuntime(await webLibrary(threads), 'wasm', threads, `slow: ${missing}`)
}

/** The library, or why there is none: not installed, or not made for this system. */
export async function nativeLibrary(): Promise<{ library?: Library; missing?: string }> {
  try {
    return { library: asLibrary(await import('onnxruntime-node')) }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const isAbsent = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
    return {
      missing: isAbsent
        ? 'onnxruntime-node is not installed'
        : `onnxruntime-node cannot be loaded: ${message.split('\n')[0]}`,
    }
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
