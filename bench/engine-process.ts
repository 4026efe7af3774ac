/**
 * Our side of the engine benchmark: a process that answers each JSON line with a JSON line, like bench_torch.py.
 * Training runs in a worker thread, as in the engine; this thread loads none of it, to start fast.
 */
import { createInterface } from 'node:readline'
import { Worker } from 'node:worker_threads'

const worker = new Worker(new URL('./engine-worker.ts', import.meta.url))
worker.on('message', (answer) => console.log(JSON.stringify(answer)))
const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => worker.postMessage(JSON.parse(line)))
lines.on('close', () => process.exit())
