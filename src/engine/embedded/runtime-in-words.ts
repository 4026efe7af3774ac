import type { EngineDescription } from '../contract.ts'
import { installNative } from './native-package.ts'
import { openRuntime, type RuntimeOptions } from './open-runtime.ts'

/** What computes, for people: the native library, or WebAssembly and how to get the native one. */
export function runtimeInWords({ driver, device }: Pick<EngineDescription, 'driver' | 'device'>): string {
  if (driver !== 'embedded') return `${driver}, ${device}`
  if (!device.startsWith('wasm')) return `onnxruntime native, ${device}`
  // Asked for by name, it is no surprise.
  if (!device.includes('slow')) return `onnxruntime in WebAssembly, ${device}`
  return `onnxruntime in WebAssembly, ${device}. The native runtime trains about 7 times as fast: ${installNative}`
}

/** Opens the runtime that the embedded engine would use, and says which it is. */
export async function describeRuntime(options: RuntimeOptions): Promise<string> {
  const { label } = await openRuntime(options)
  return runtimeInWords({ driver: 'embedded', device: label })
}
