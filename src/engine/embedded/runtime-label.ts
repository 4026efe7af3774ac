import type { EngineDescription } from '../contract.ts'
import { installNative } from './native-package.ts'
import { openRuntime, type RuntimeOptions } from './open-runtime.ts'

/** Describes the runtime for users: the native library, or WebAssembly and how to install the native one. */
export function runtimeLabel({ driver, device }: Pick<EngineDescription, 'driver' | 'device'>): string {
  if (driver !== 'embedded') return `${driver}, ${device}`
  if (!device.startsWith('wasm')) return `onnxruntime native, ${device}`
  // Requested explicitly, so no hint is needed.
  if (!device.includes('slow')) return `onnxruntime in WebAssembly, ${device}`
  return `onnxruntime in WebAssembly, ${device}. The native runtime trains about 7 times as fast: ${installNative}`
}

/** Opens the runtime that the embedded engine would use, and describes it. */
export async function describeRuntime(options: RuntimeOptions): Promise<string> {
  const { label } = await openRuntime(options)
  return runtimeLabel({ driver: 'embedded', device: label })
}
