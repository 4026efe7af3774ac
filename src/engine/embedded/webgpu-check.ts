import { fork } from 'node:child_process'
import { EngineError } from '../checkpoint/index.ts'
import type { DeviceDifferences } from './device-comparison.ts'

export type ProbeResult = { differences: DeviceDifferences } | { failure: string }

/** Rounding errors are a hundredth of this; a wrong kernel is far above it. */
const LIMIT = 1e-3
const TIMEOUT_MS = 120_000
const useCpu = 'or use the CPU: --device cpu.'

/**
 * Runs training steps on WebGPU and on the CPU in a child process, and throws unless the results match. Drivers crash,
 * hang and miscompute: better to find out here than after an hour of training.
 */
export async function checkWebGpu(probe = defaultProbe()): Promise<void> {
  const { result, end, errors } = await runProbe(probe)
  const details = { probe: errors.slice(-2000) }
  if (result === undefined) {
    throw new EngineError(`WebGPU cannot be used here: the test process ${end}.`, {
      fix: `Update the GPU's driver, ${useCpu}`,
      details,
    })
  }
  if ('failure' in result) {
    const hasNone = /adapter/i.test(result.failure)
    throw new EngineError(
      hasNone ? 'WebGPU found no usable GPU.' : `WebGPU cannot be used here: ${result.failure.trim()}`,
      {
        fix: hasNone
          ? `Install the GPU's driver (on Linux with Vulkan: libvulkan1 and the vendor's), ${useCpu}`
          : `Update the GPU's driver, ${useCpu}`,
        details: { ...details, failure: result.failure },
      },
    )
  }
  const [name, difference] = Object.entries(result.differences).reduce((worst, each) =>
    each[1] > worst[1] ? each : worst,
  )
  if (difference <= LIMIT) return
  throw new EngineError(
    `WebGPU computes wrong results here: the relative error of ${name} is ${difference.toPrecision(2)}, above the limit of ${LIMIT}.`,
    { fix: `Update the GPU's driver, ${useCpu}`, details: { ...details, differences: result.differences } },
  )
}

function defaultProbe(): URL {
  // The same file in source and build; only the extension differs.
  return new URL(`./webgpu-probe.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)
}

function runProbe(probe: URL): Promise<{ result: ProbeResult | undefined; end: string; errors: string }> {
  return new Promise((resolve) => {
    const child = fork(probe, {
      execArgv: [],
      // JSON cannot represent infinity.
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
    })
    let result: ProbeResult | undefined
    let errors = ''
    child.stderr!.on('data', (part) => {
      errors += part
    })
    child.on('message', (message) => {
      result = message as ProbeResult
    })
    child.on('error', (cause) => resolve({ result, end: `failed: ${cause.message}`, errors }))
    child.on('close', (code, signal) =>
      resolve({
        result,
        end: signal === null ? `exited with code ${code}` : `was killed by ${signal}`,
        errors,
      }),
    )
  })
}
