import { availableParallelism } from 'node:os'
import { pathToFileURL } from 'node:url'
import { EngineError } from '../checkpoint/index.ts'
import { type InstallOptions, installBuild, whyNoNativeBuild } from './builds/index.ts'
import { type Device, type Library, OnnxRuntime, type Runtime } from './runtime.ts'
import { disableTelemetry } from './telemetry.ts'
import { checkWebGpu } from './webgpu-check.ts'

export interface RuntimeOptions {
  /** 'cpu' falls back to 'wasm' where the native library does not work. */
  device?: Device
  /** Default: the number of cores, at most 8. */
  threads?: number
}

type OnStatus = InstallOptions['onStatus']

/** Opens onnxruntime: the native library, or WebAssembly where there is none. Installs it first if it is missing. */
export async function openRuntime(options: RuntimeOptions = {}, onStatus?: OnStatus): Promise<Runtime> {
  const { device = 'cpu', threads = Math.min(8, availableParallelism()) } = options
  if (device === 'wasm') return new OnnxRuntime(await webLibrary(threads, onStatus), 'wasm', threads)
  const { library, missing } = await nativeLibrary(onStatus)
  if (device === 'webgpu') {
    if (library === undefined) {
      throw new EngineError(`The WebGPU device needs the native library: ${missing}.`, {
        fix: 'Use another device: --device cpu.',
      })
    }
    await checkWebGpu()
    return new OnnxRuntime(library, 'webgpu', threads, 'sampling and optimizer: cpu')
  }
  if (library !== undefined) return new OnnxRuntime(library, 'cpu', threads)
  return new OnnxRuntime(await webLibrary(threads, onStatus), 'wasm', threads, `slow: ${missing}`)
}

/** The library, or why this machine cannot use it. A failed download is an error: falling back would be slow for no good reason. */
export async function nativeLibrary(onStatus?: OnStatus): Promise<{ library?: Library; missing?: string }> {
  const missing = whyNoNativeBuild()
  if (missing !== undefined) return { missing }
  const { entry } = await installBuild('native', { onStatus })
  disableTelemetry()
  try {
    return { library: asLibrary(await import(pathToFileURL(entry).href)) }
  } catch (cause) {
    return { missing: `onnxruntime-node cannot be loaded: ${(cause as Error).message.split('\n')[0]}` }
  }
}

async function webLibrary(threads: number, onStatus: OnStatus): Promise<Library> {
  const { entry } = await installBuild('wasm', { onStatus })
  const web = await import(pathToFileURL(entry).href)
  web.env.wasm.numThreads = threads
  return asLibrary(web)
}

/** Both packages are CommonJS underneath, so their names may be on the default export. */
function asLibrary(module: object): Library {
  const { default: inner } = module as { default?: object }
  return ('InferenceSession' in module ? module : inner) as Library
}
