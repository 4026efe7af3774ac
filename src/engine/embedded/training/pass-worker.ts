/** A worker thread that runs batches on the shared weights, with one CPU core per thread. */
import { parentPort, workerData } from 'node:worker_threads'
import { parameterShapes } from '../llama/parameter-shapes.ts'
import { openRuntime } from '../open-runtime.ts'
import { ParameterStore } from '../parameter-store.ts'
import { sumOfSquares, updateRange } from './adam-range.ts'
import { PassRunner } from './pass-runner.ts'
import type { ThreadData, ThreadReply, ThreadRequest } from './pass-thread.ts'

const { shape, options, weights, arrays } = workerData as ThreadData
const runtime = await openRuntime({ device: 'cpu', threads: 1 })
const store = new ParameterStore(runtime, parameterShapes(shape, options.lora), weights, options.lora)
const runner = new PassRunner(runtime, shape, store, options)
const post = (reply: ThreadReply): void => parentPort!.postMessage(reply)

async function handle(request: ThreadRequest): Promise<ThreadReply> {
  if (request.kind === 'squares') return { squares: sumOfSquares(arrays.gradients, request.from, request.to) }
  if (request.kind === 'update') {
    for (const { from, to, numbers } of request.ranges) updateRange(arrays, from, to, numbers)
    return { updated: true }
  }
  const { batches, passLoss } = request.pass
  runner.clearGradients()
  const outcomes = []
  for (const batch of batches) outcomes.push(await runner.run(batch, passLoss))
  return { outcomes, hasGradients: runner.hasGradients }
}

parentPort!.on('message', async (request: ThreadRequest) => {
  try {
    post(await handle(request))
  } catch (cause) {
    post({ failure: cause instanceof Error ? cause.message : String(cause) })
  }
})
post({ gradients: store.gradients })
