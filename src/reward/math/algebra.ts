import { Worker } from 'node:worker_threads'
import type { AlgebraReply, AlgebraRequest } from './algebra-worker.ts'
import { toMathJson } from './math-json.ts'
import { type Node, variablesOf } from './node.ts'
import { seededRandom } from './random.ts'

export type Equality = 'equal' | 'unequal' | 'unknown'

/** The first request also loads the engine, which takes up to a second. */
const startLimitMs = 20_000
const requestLimitMs = 1_500

interface Waiting {
  request: AlgebraRequest
  resolve: (equality: Equality) => void
}

let worker: Worker | undefined
let running: Waiting | undefined
let timer: NodeJS.Timeout | undefined
let isLoaded = false
const queue: Waiting[] = []
let lastId = 0

/** The algebra engine's verdict on two expressions; `unknown` also if it takes too long or fails. */
export function algebraEquality(left: Node, right: Node): Promise<Equality> {
  const variables = [...variablesOf(right, variablesOf(left))].sort()
  const [leftJson, rightJson] = [toMathJson(left, variables), toMathJson(right, variables)]
  const random = seededRandom(JSON.stringify([leftJson, rightJson]))
  const point = () =>
    variables.map(() => `${Math.floor(random() * 900) + 100}/${Math.floor(random() * 300) + 101}`)
  const points = variables.length === 0 ? [[]] : [point(), point(), point()]
  const request = { id: ++lastId, left: leftJson, right: rightJson, variables: variables.length, points }
  return new Promise((resolve) => {
    queue.push({ request, resolve })
    startNext()
  })
}

/** Terminates the thread. It does not keep a process alive, so only tests and long-lived servers need this. */
export async function closeAlgebra(): Promise<void> {
  const closing = worker
  dropWorker()
  await closing?.terminate()
}

function startNext(): void {
  if (running !== undefined) return
  running = queue.shift()
  if (running === undefined) {
    worker?.unref()
    return
  }
  worker ??= startWorker()
  worker.ref()
  timer = setTimeout(giveUp, isLoaded ? requestLimitMs : startLimitMs)
  worker.postMessage(running.request)
}

function startWorker(): Worker {
  // The sources and the build differ only in the extension.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const started = new Worker(new URL(`./algebra-worker.${extension}`, import.meta.url))
  started.on('message', (reply: AlgebraReply) => {
    isLoaded = true
    if (started === worker && reply.id === running?.request.id) settle(reply.equality)
  })
  started.on('error', () => {
    if (started === worker) giveUp()
  })
  return started
}

function settle(equality: Equality): void {
  clearTimeout(timer)
  const settled = running
  running = undefined
  settled?.resolve(equality)
  startNext()
}

function giveUp(): void {
  const abandoned = worker
  dropWorker()
  void abandoned?.terminate()
  settle('unknown')
}

function dropWorker(): void {
  worker = undefined
  isLoaded = false
}
