import type { EngineDescription } from '../contract.ts'
import { builds, locateBuild, neededBuild } from './builds/index.ts'
import { openRuntime, type RuntimeOptions } from './open-runtime.ts'

/** Describes the runtime for users: the native library, or WebAssembly and why. */
export function runtimeLabel({ driver, device }: Pick<EngineDescription, 'driver' | 'device'>): string {
  if (driver !== 'embedded') return `${driver}, ${device}`
  if (!device.startsWith('wasm')) return `onnxruntime native, ${device}`
  // Requested explicitly, so no hint is needed.
  if (!device.includes('slow')) return `onnxruntime in WebAssembly, ${device}`
  return `onnxruntime in WebAssembly, ${device}. Where it works, the native library trains about 7 times as fast`
}

/** Opens the runtime that the embedded engine would use, and describes it; if it is not installed yet, says so instead. */
export async function describeRuntime(options: RuntimeOptions): Promise<string> {
  const name = neededBuild(options.device)
  if (locateBuild(name) === undefined) {
    const { downloadMegabytes } = builds[name]
    return `not downloaded yet (${downloadMegabytes} MB): the first command that needs it downloads it, or coa engine install`
  }
  const { label } = await openRuntime(options)
  return runtimeLabel({ driver: 'embedded', device: label })
}
