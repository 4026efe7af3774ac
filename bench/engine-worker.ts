/**
 * The training part of the engine benchmark.
 *
 *     {"op": "open", "config": {HF config}, "threads": 2}
 *     {"op": "train", "batch": 8, "length": 256, "steps": 5}   -> {"step_seconds", "peak_memory_bytes"}
 */
import { readFileSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { randomWeights, shapeFromConfig } from '../src/engine/checkpoint/index.ts'
import { parameterShapes } from '../src/engine/embedded/llama/parameter-shapes.ts'
import { openRuntime } from '../src/engine/embedded/open-runtime.ts'
import { ParameterStore } from '../src/engine/embedded/parameter-store.ts'
import { Trainer } from '../src/engine/embedded/training/trainer.ts'

type Request =
  | { op: 'open'; config: Record<string, unknown>; threads: number }
  | { op: 'train'; batch: number; length: number; steps: number }

export interface Trained {
  step_seconds: number[]
  peak_memory_bytes: number
}

let opened: { trainer: Trainer; vocabulary: number } | undefined

parentPort!.on('message', async (request: Request) => {
  if (request.op === 'open') {
    opened = await open(request.config, request.threads)
    parentPort!.postMessage({})
  } else parentPort!.postMessage(await train(opened!, request))
})

async function open(config: Record<string, unknown>, threads: number) {
  const shape = shapeFromConfig(config)
  const runtime = await openRuntime({ threads })
  const store = new ParameterStore(
    runtime,
    parameterShapes(shape, undefined),
    randomWeights(shape, 0),
    undefined,
  )
  return { trainer: new Trainer(runtime, shape, store, {}), vocabulary: shape.vocabularySize }
}

async function train(
  { trainer, vocabulary }: { trainer: Trainer; vocabulary: number },
  { batch, length, steps }: { batch: number; length: number; steps: number },
): Promise<Trained> {
  const weights = [0, ...Array.from({ length }, () => 1 / (batch * length))]
  const examples = Array.from({ length: batch }, () => ({
    tokens: Array.from({ length: length + 1 }, () => Math.floor(Math.random() * vocabulary)),
    weights,
  }))
  const seconds: number[] = []
  for (let step = 0; step < steps; step++) {
    const started = performance.now()
    await trainer.pass(examples, { kind: 'cross-entropy' }, () => undefined)
    await trainer.step({ learningRate: 1e-4, maxNorm: 1, weightDecay: 0.1 })
    seconds.push((performance.now() - started) / 1000)
  }
  return { step_seconds: seconds, peak_memory_bytes: peakMemory() }
}

/** Peak memory of this process; 0 if unknown. */
function peakMemory(): number {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))!
    return Number(kilobytes) * 1024
  } catch {
    return 0
  }
}
