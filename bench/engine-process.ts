/**
 * Our side of the engine's benchmark: a process that answers one JSON line with one JSON line, as bench_torch.py does.
 * Training runs in a worker thread, where the engine has it; this thread opens nothing of it, to start fast.
 */
import { createInterface } from 'node:readline'
import { Worker } from 'node:worker_threads'

const worker = new Worker(new URL('./engine-worker.ts', import.meta.url))
worker.on('message', (answer) => console.log(JSON.stringify(answer)))
const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => worker.postMessage(JSON.parse(line)))
lines.on('close', () => process.exit())
