import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { CoaError } from '../../base/errors/index.ts'
import type { LiveChange } from '../api.ts'
import { Problem } from '../problem.ts'
import type { FromThread, ToThread } from './messages.ts'
import { Query } from './query.ts'
import { type ReaderOptions, type Request, readersOf } from './readers.ts'
import { RunWatch } from './run-watch.ts'
import type { JobsByRun } from './runs.ts'

/**
 * The thread that reads runs, so that the server answers at once whatever is being read. It reads logs in short slices, and answers
 * between them.
 */
const POLL_MS = 250
const LIST_MS = 1000

const port = parentPort!
const { open, readers } = readersOf(workerData as ReaderOptions)
const watches = new Map<string, RunWatch>()
let jobs: JobsByRun = {}
let isAnyone = false
let list = ''
let listedAt = 0
let isPumping = false

port.on('message', (message: ToThread) => {
  if (message.type === 'read') void read(message)
  else if (message.type === 'watch') watch(message)
  else {
    open.close()
    port.close()
  }
})
setInterval(poll, POLL_MS).unref()

async function read({
  id,
  endpoint,
  names,
  query,
  body,
  jobs: now,
}: ToThread & { type: 'read' }): Promise<void> {
  jobs = now
  try {
    if (endpoint.includes(' /api/runs/:run/')) open.get(names[0]!).index.advance()
    const reader = readers[endpoint] as (request: Request) => unknown
    const json = JSON.stringify(await reader({ names, query: new Query(query), jobs, body }))
    port.postMessage({ type: 'reply', id, json } satisfies FromThread)
  } catch (error) {
    const { status, message, code, fix } = problemOf(error)
    port.postMessage({ type: 'problem', id, status, message, code, fix } satisfies FromThread)
  }
  pump()
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (CoaError.isInstance(error))
    return new Problem(409, error.message, {
      code: error.boundary,
      ...(error.fix === undefined ? {} : { fix: error.fix }),
    })
  process.stderr.write(`coa studio: ${error instanceof Error ? error.stack : String(error)}\n`)
  return new Problem(500, 'the studio failed to answer; the terminal in which it runs says why')
}

/** Reads what is new in the runs that are open, a slice at a time. */
function pump(): void {
  if (isPumping) return
  isPumping = true
  setImmediate(() => {
    isPumping = false
    let isMore = false
    for (const [, { index }] of [...open.entries()].reverse()) {
      isMore = advanced(index)
      // The run that was looked at last comes first.
      if (isMore) break
    }
    if (isMore) pump()
  })
}

function advanced(index: { advance: () => boolean }): boolean {
  try {
    return index.advance()
  } catch {
    // Another studio is writing, or the disk is full; the next request tries again.
    return false
  }
}

function watch({ runs, isAnyone: anyone, jobs: now }: ToThread & { type: 'watch' }): void {
  jobs = now
  isAnyone = anyone
  for (const id of watches.keys()) if (!runs.includes(id)) watches.delete(id)
  for (const id of runs) {
    try {
      if (!watches.has(id)) watches.set(id, new RunWatch(open, id))
    } catch {
      // Requests for this run say what is wrong with it.
    }
  }
}

function poll(): void {
  if (!isAnyone) return
  const changes: LiveChange[] = [...listChanges()]
  for (const [id, run] of watches) {
    try {
      advanced(open.get(id).index)
      changes.push(...run.poll(jobs))
    } catch {
      // The run is gone, or damaged; requests for it say so.
      watches.delete(id)
    }
  }
  if (changes.length > 0) port.postMessage({ type: 'changes', changes } satisfies FromThread)
  pump()
}

function listChanges(): LiveChange[] {
  if (performance.now() - listedAt < LIST_MS) return []
  listedAt = performance.now()
  const before = list
  list = listNow()
  return before === list || before === '' ? [] : [{ type: 'runs' }]
}

function listNow(): string {
  try {
    return readdirSync(open.folder)
      .map((name) => {
        const time = (file: string): number =>
          statSync(join(open.folder, name, file), { throwIfNoEntry: false })?.mtimeMs ?? 0
        return `${name} ${time('manifest.json')} ${time('lock') > 0}`
      })
      .join('\n')
  } catch {
    return 'none'
  }
}

port.postMessage({ type: 'ready' } satisfies FromThread)
