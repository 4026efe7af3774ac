import { Worker } from 'node:worker_threads'
import type { PageText } from './html-text.ts'
import type { HtmlReply, HtmlRequest } from './html-worker.ts'
import { strippedText } from './stripped-text.ts'

/** Loading the parser takes most of a second, more on a busy machine. */
const START_MS = 15_000
const PAGE_MS = 5_000

interface Waiting {
  request: HtmlRequest
  signal: AbortSignal | undefined
  resolve: (page: PageText) => void
}

let worker: Worker | undefined
let running: Waiting | undefined
let timer: NodeJS.Timeout | undefined
let isWarm = false
let lastId = 0
const queue: Waiting[] = []

/**
 * Reads HTML in a thread of its own, page after page. The libraries take minutes for some small pages (a few hundred
 * nested elements are enough): such a page costs its time limit, not the process, and is read by a simpler way.
 */
export function readHtml(html: string, url?: string, signal?: AbortSignal): Promise<PageText> {
  const request = { id: ++lastId, html, ...(url === undefined ? {} : { url }) }
  return new Promise((resolve) => {
    queue.push({ request, signal, resolve })
    startNext()
  })
}

function startNext(): void {
  if (running !== undefined) return
  running = queue.shift()
  // One that nobody waits for any more must not hold up the others.
  while (running?.signal?.aborted === true) running = queue.shift()
  if (running === undefined) {
    // An idle thread must not keep the process alive.
    worker?.unref()
    return
  }
  worker ??= startWorker()
  worker.ref()
  timer = setTimeout(giveUp, isWarm ? PAGE_MS : START_MS)
  worker.postMessage(running.request)
}

function startWorker(): Worker {
  // The same file as source and as build: only the ending differs.
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const started = new Worker(new URL(`./html-worker.${ending}`, import.meta.url))
  started.on('message', (reply: HtmlReply) => {
    if (started !== worker) return
    if (reply.id === undefined) {
      isWarm = true
      clearTimeout(timer)
      timer = setTimeout(giveUp, PAGE_MS)
    } else if (reply.id === running?.request.id) settle(reply.page)
  })
  started.on('error', () => {
    if (started === worker) giveUp()
  })
  return started
}

function settle(page: PageText | undefined): void {
  clearTimeout(timer)
  const { request, resolve } = running!
  running = undefined
  resolve(page ?? strippedText(request.html, request.url))
  startNext()
}

function giveUp(): void {
  void worker?.terminate()
  worker = undefined
  isWarm = false
  settle(undefined)
}
