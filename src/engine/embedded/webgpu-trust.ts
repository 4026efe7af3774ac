import { fork } from 'node:child_process'
import { EngineError } from '../checkpoint/index.ts'
import type { DeviceFigures } from './device-comparison.ts'

export type ProbeAnswer = { figures: DeviceFigures } | { failure: string }

/** Rounding is a hundredth of this; a wrong kernel is far above it. */
const LIMIT = 1e-3
const PATIENCE = 120_000
const useProcessor = 'or use the processor: --device cpu.'

/**
 * Lets WebGPU do training steps beside the processor in a process of its own, and throws unless both give the same
 * numbers. Drivers crash, hang and miscompute: better found out here than after an hour of training.
 */
export async function trustWebGpu(probe = ownProbe()): Promise<void> {
  const { answer, end, errors } = await ask(probe)
  const details = { probe: errors.slice(-2000) }
  if (answer === undefined) {
    throw new EngineError(`WebGPU cannot be used here: trying it out ${end}.`, {
      fix: `Update the GPU's driver, ${useProcessor}`,
      details,
    })
  }
  if ('failure' in answer) {
    const hasNone = /adapter/i.test(answer.failure)
    throw new EngineError(
      hasNone
        ? 'WebGPU finds no GPU here that it can use.'
        : `WebGPU cannot be used here: ${answer.failure.trim()}`,
      {
        fix: hasNone
          ? `Install the GPU's driver (on Linux with Vulkan: libvulkan1 and the vendor's), ${useProcessor}`
          : `Update the GPU's driver, ${useProcessor}`,
        details: { ...details, failure: answer.failure },
      },
    )
  }
  const [name, figure] = Object.entries(answer.figures).reduce((worst, each) =>
    each[1] > worst[1] ? each : worst,
  )
  if (figure <= LIMIT) return
  throw new EngineError(
    `WebGPU computes wrong numbers here: ${name} off by ${figure.toPrecision(2)} of the largest, and ${LIMIT} is the most.`,
    { fix: `Update the GPU's driver, ${useProcessor}`, details: { ...details, figures: answer.figures } },
  )
}

function ownProbe(): URL {
  // The same file as source and as build: only the ending differs.
  return new URL(`./webgpu-probe.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)
}

function ask(probe: URL): Promise<{ answer: ProbeAnswer | undefined; end: string; errors: string }> {
  return new Promise((resolve) => {
    const child = fork(probe, {
      execArgv: [],
      // As JSON, infinity would not arrive.
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      timeout: PATIENCE,
      killSignal: 'SIGKILL',
    })
    let answer: ProbeAnswer | undefined
    let errors = ''
    child.stderr!.on('data', (part) => {
      errors += part
    })
    child.on('message', (message) => {
      answer = message as ProbeAnswer
    })
    child.on('error', (cause) => resolve({ answer, end: `failed: ${cause.message}`, errors }))
    child.on('close', (code, signal) =>
      resolve({ answer, end: signal === null ? `ended with code ${code}` : `ended with ${signal}`, errors }),
    )
  })
}
