import { availableParallelism } from 'node:os'
import { EngineError } from '../checkpoint/index.ts'
import { installNative } from './native-package.ts'
import { type Device, type Library, OnnxRuntime, type Runtime } from './runtime.ts'
import { disableTelemetry } from './telemetry.ts'
import { checkWebGpu } from './webgpu-check.ts'

export interface RuntimeOptions {
  /** 'cpu' falls back to 'wasm' if the native library is missing. */
  device?: Device
  /** Default: the number of cores, at most 8. */
  threads?: number
}

/** Opens onnxruntime: the native library if installed, else WebAssembly. */
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
    await checkWebGpu()
    return new OnnxRuntime(library, 'webgpu', threads, 'sampling and optimizer: cpu')
  }
  if (library !== undefined) return new OnnxRuntime(library, 'cpu', threads)
  return new OnnxRuntime(await webLibrary(threads), 'wasm', threads, `slow: ${missing}`)
}

/** The library, or why it is missing: not installed, or not available for this system. */
export async function nativeLibrary(): Promise<{ library?: Library; missing?: string }> {
  disableTelemetry()
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

/** Both packages are CommonJS underneath, so their names may be on the default export. */
function asLibrary(module: object): Library {
  const { default: inner } = module as { default?: object }
  return ('InferenceSession' in module ? module : inner) as Library
}
