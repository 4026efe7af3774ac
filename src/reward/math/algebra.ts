import { Worker } from 'node:worker_threads'
import type { AlgebraReply, AlgebraRequest } from './algebra-worker.ts'
import { toMathJson } from './math-json.ts'
import { type Node, variablesOf } from './node.ts'
import { seededRandom } from './random.ts'

export type Opinion = 'equal' | 'unequal' | 'unknown'

/** The first request also loads the engine, which takes most of a second. */
const startLimitMs = 20_000
const requestLimitMs = 1_500

interface Waiting {
  request: AlgebraRequest
  resolve: (opinion: Opinion) => void
}

let worker: Worker | undefined
let running: Waiting | undefined
let timer: NodeJS.Timeout | undefined
let isWarm = false
const queue: Waiting[] = []
let lastId = 0

/** What the algebra engine says about two expressions; `unknown` also when it takes too long or fails. */
export function algebraOpinion(left: Node, right: Node): Promise<Opinion> {
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

/** Ends the thread. It does not keep a process alive, so only tests and long-lived servers need this. */
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
  timer = setTimeout(giveUp, isWarm ? requestLimitMs : startLimitMs)
  worker.postMessage(running.request)
}

function startWorker(): Worker {
  // The same file as source and as build: only the ending differs.
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const started = new Worker(new URL(`./algebra-worker.${ending}`, import.meta.url))
  started.on('message', (reply: AlgebraReply) => {
    isWarm = true
    if (started === worker && reply.id === running?.request.id) settle(reply.opinion)
  })
  started.on('error', () => {
    if (started === worker) giveUp()
  })
  return started
}

function settle(opinion: Opinion): void {
  clearTimeout(timer)
  const settled = running
  running = undefined
  settled?.resolve(opinion)
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
  isWarm = false
}
