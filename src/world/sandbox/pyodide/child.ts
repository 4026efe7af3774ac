/**
 * The program of a warm Python child: loads pyodide once, takes a picture of all of it, and lays the picture back
 * after each run. Started by the pool with a bare environment and Node's permission model.
 */
import { hear, say } from '../warm/child-side.ts'
import { limitMemory } from '../warm/memory-limit.ts'
import { OutputGate } from '../warm/output-gate.ts'
import type { ChildAnswer, ChildReady, ChildRequest } from '../warm/protocol.ts'
import { Watch } from '../warm/watch.ts'
import { limitFiles } from './file-limits.ts'
import { sealedPython } from './interpreter.ts'
import { Picture } from './picture.ts'

const exit = process.exit.bind(process)
const watch = new Watch()
const memory = limitMemory()
// A real one would free a run's objects after the picture was laid back over them.
globalThis.FinalizationRegistry = class {
  readonly [Symbol.toStringTag] = 'FinalizationRegistry'
  register(): void {}
  unregister(): boolean {
    return false
  }
}

const stdout = new OutputGate(1)
const stderr = new OutputGate(2)
const encoder = new TextEncoder()
let stdin: Uint8Array = new Uint8Array(0)
let token = ''

const python = await sealedPython(process.argv[2]!, {
  stdout,
  stderr,
  interrupt: watch.interrupt,
  /** What a program still says after its time is not part of the result. */
  muted: () => watch.late !== undefined,
  read(length) {
    const part = stdin.subarray(0, length)
    stdin = stdin.subarray(part.length)
    return part
  },
  flooded() {
    say(answer(null, { spent: true }))
    return exit(0)
  },
  loadedCode() {
    say(answer(null, { signal: 'SIGSYS', spent: true }))
    return exit(0)
  },
})
const { files, machine } = python
const fileLimit = limitFiles(files)
const picture = new Picture(machine, files)

function answer(code: number | null, more: { signal?: string; spent: boolean }): ChildAnswer {
  const late = watch.end()
  const stopped = late !== undefined || stdout.flooding || stderr.flooding
  return {
    token,
    exit: stopped ? null : code,
    ...more,
    ...(stopped ? { signal: 'SIGKILL' } : {}),
    late,
    truncated: stdout.truncated || stderr.truncated,
    outOfMemory: memory.refused && code !== 0 && late === undefined,
    stdoutBytes: stdout.sent,
    stderrBytes: stderr.sent,
    heapBytes: picture.grownBytes,
  }
}

function run(request: ChildRequest): ChildAnswer {
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
  watch.begin(request)
  try {
    const code = python.run('/box/main.py')
    return answer(typeof code === 'number' ? code : 1, { spent: picture.beyondRepair })
  } catch (error) {
    // Not an exception of Python's: the interpreter itself was ended by the program, or broke.
    const status = (error as { status?: unknown } | null)?.status
    if (typeof status === 'number') return answer(status & 255, { spent: true })
    return answer(null, { signal: 'SIGABRT', spent: true })
  }
}

// Once before the first program, so that all runs find the JavaScript side equally used.
const rehearsal = { token: '', code: 'print(input())', stdin: 'warm\n', files: {}, memoryMb: 4096 }
run({ ...rehearsal, outputBytes: 0, fileBytes: 1024, cpuMs: 60_000, wallMs: 600_000 })
picture.restore()
say({ ready: true, version: python.version } satisfies ChildReady)

for (let request = hear(); request !== undefined; request = hear()) {
  const result = run(request)
  say(result)
  if (result.spent) break
  picture.restore()
}
exit(0)
