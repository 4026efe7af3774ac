/** A thread that runs batches beside the engine's own, on the same weights, each with a processor to itself. */
import { parentPort, workerData } from 'node:worker_threads'
import { parameterShapes } from '../llama/parameter-shapes.ts'
import { openRuntime } from '../open-runtime.ts'
import { ParameterStore } from '../parameter-store.ts'
import { sumOfSquares, updateRange } from './adam-range.ts'
import type { PartnerData, PartnerOrder, PartnerReply } from './pass-partner.ts'
import { PassRunner } from './pass-runner.ts'

const { shape, options, weights, arrays } = workerData as PartnerData
const runtime = await openRuntime({ device: 'cpu', threads: 1 })
const store = new ParameterStore(runtime, parameterShapes(shape, options.lora), weights, options.lora)
const runner = new PassRunner(runtime, shape, store, options)
const tell = (reply: PartnerReply): void => parentPort!.postMessage(reply)

async function follow(order: PartnerOrder): Promise<PartnerReply> {
  if (order.kind === 'squares') return { squares: sumOfSquares(arrays.gradients, order.from, order.to) }
  if (order.kind === 'update') {
    for (const { from, to, numbers } of order.ranges) updateRange(arrays, from, to, numbers)
    return { updated: true }
  }
  const { batches, examples, aim } = order.pass
  runner.forget()
  const outcomes = []
  for (const batch of batches) outcomes.push(await runner.run(batch, examples, aim))
  return { outcomes, gathered: runner.gathered }
}

parentPort!.on('message', async (order: PartnerOrder) => {
  try {
    tell(await follow(order))
  } catch (cause) {
    tell({ failure: cause instanceof Error ? cause.message : String(cause) })
  }
})
tell({ gradients: store.gradients })
