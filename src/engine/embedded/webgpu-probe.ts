/** A process of its own: what WebGPU computes here, against the processor. A crash of its driver ends nothing else. */
import { compareDevices } from './device-comparison.ts'
import { nativeLibrary } from './open-runtime.ts'
import { OnnxRuntime } from './runtime.ts'
import type { ProbeAnswer } from './webgpu-trust.ts'

async function probe(): Promise<ProbeAnswer> {
  try {
    const { library, missing } = await nativeLibrary()
    if (library === undefined) return { failure: missing! }
    const [device, processor] = [new OnnxRuntime(library, 'webgpu', 1), new OnnxRuntime(library, 'cpu', 1)]
    return { figures: await compareDevices(device, processor) }
  } catch (cause) {
    return { failure: (cause as Error).message }
  }
}

process.send!(await probe(), () => process.disconnect())
