/** A child process that compares WebGPU with the CPU, so that a driver crash does not affect the parent. */
import { compareDevices } from './device-comparison.ts'
import { nativeLibrary } from './open-runtime.ts'
import { OnnxRuntime } from './runtime.ts'
import type { ProbeResult } from './webgpu-check.ts'

async function probe(): Promise<ProbeResult> {
  try {
    const { library, missing } = await nativeLibrary()
    if (library === undefined) return { failure: missing! }
    const [device, cpu] = [new OnnxRuntime(library, 'webgpu', 1), new OnnxRuntime(library, 'cpu', 1)]
    return { differences: await compareDevices(device, cpu) }
  } catch (cause) {
    return { failure: (cause as Error).message }
  }
}

process.send!(await probe(), () => process.disconnect())
