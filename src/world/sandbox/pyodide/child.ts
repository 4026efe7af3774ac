/**
 * Entry point of a Python worker: loads pyodide once, takes a snapshot, and restores it after each run. Started by
 * the worker pool with an empty environment and Node's permission model.
 */
import { receiveRequest, sendMessage } from '../workers/child-io.ts'
import { LimitedOutput } from '../workers/limited-output.ts'
import { limitMemory } from '../workers/memory-limit.ts'
import type { WorkerReady, WorkerRequest, WorkerResult } from '../workers/protocol.ts'
import { Watchdog } from '../workers/watchdog.ts'
import { limitFiles } from './file-limits.ts'
import { sealedPython } from './interpreter.ts'
import { InterpreterSnapshot } from './interpreter-snapshot.ts'

const exit = process.exit.bind(process)
const watchdog = new Watchdog()
const memory = limitMemory()
// A real one would free a run's objects after the snapshot was restored over them.
globalThis.FinalizationRegistry = class {
  readonly [Symbol.toStringTag] = 'FinalizationRegistry'
  register(): void {}
  unregister(): boolean {
    return false
  }
}

const stdout = new LimitedOutput(1)
const stderr = new LimitedOutput(2)
const encoder = new TextEncoder()
let stdin: Uint8Array = new Uint8Array(0)
let token = ''

const [library, compiled] = process.argv.slice(2)
const python = await sealedPython(
  { library: library!, compiled },
  {
    stdout,
    stderr,
    interrupt: watchdog.interrupt,
    /** Output written after the time limit is discarded. */
    muted: () => watchdog.exceeded !== undefined,
    read(length) {
      const part = stdin.subarray(0, length)
      stdin = stdin.subarray(part.length)
      return part
    },
    flooded() {
      sendMessage(answer(null, { tainted: true }))
      return exit(0)
    },
    loadedCode() {
      sendMessage(answer(null, { signal: 'SIGSYS', tainted: true }))
      return exit(0)
    },
  },
)
const { files, machine } = python
const fileLimit = limitFiles(files)
const snapshot = new InterpreterSnapshot(machine, files)

function answer(code: number | null, more: { signal?: string; tainted: boolean }): WorkerResult {
  const exceeded = watchdog.end()
  const stopped = exceeded !== undefined || stdout.flooding || stderr.flooding
  return {
    token,
    exit: stopped ? null : code,
    ...more,
    ...(stopped ? { signal: 'SIGKILL' } : {}),
    exceeded,
    truncated: stdout.truncated || stderr.truncated,
    outOfMemory: memory.refused && code !== 0 && exceeded === undefined,
    stdoutBytes: stdout.sent,
    stderrBytes: stderr.sent,
    heapBytes: snapshot.grownBytes,
  }
}

function run(request: WorkerRequest): WorkerResult {
  token = request.token
  stdout.open(request.outputBytes)
  stderr.open(request.outputBytes)
  stdin = encoder.encode(request.stdin)
  fileLimit.open(Number.POSITIVE_INFINITY)
  for (const [path, text] of [...Object.entries(request.files), ['main.py', request.code] as const]) {
    const slash = path.lastIndexOf('/')
    if (slash > 0) files.mkdirTree(`/box/${path.slice(0, slash)}`)
    files.writeFile(`/box/${path}`, encoder.encode(text))
  }
  fileLimit.open(request.fileBytes)
  memory.open(request.memoryMb * 2 ** 20)
  watchdog.begin(request)
  try {
    const code = python.run('/box/main.py')
    return answer(typeof code === 'number' ? code : 1, { tainted: snapshot.isTainted })
  } catch (error) {
    // Not a Python exception: the program ended the interpreter itself, or broke it.
    const status = (error as { status?: unknown } | null)?.status
    if (typeof status === 'number') return answer(status & 255, { tainted: true })
    return answer(null, { signal: 'SIGABRT', tainted: true })
  }
}

// One run before the first program, so that every program finds the JavaScript side in the same state.
const warmUp = { token: '', code: 'print(input())', stdin: 'warm\n', files: {}, memoryMb: 4096 }
run({ ...warmUp, outputBytes: 0, fileBytes: 1024, cpuMs: 60_000, wallMs: 600_000 })
snapshot.restore()
sendMessage({ ready: true } satisfies WorkerReady)

for (let request = receiveRequest(); request !== undefined; request = receiveRequest()) {
  const result = run(request)
  sendMessage(result)
  if (result.tainted) break
  snapshot.restore()
}
exit(0)
