/** Entry point of a JavaScript worker. Each run gets its own WebAssembly instance. */
import { readFileSync } from 'node:fs'
import { sleepAllowance } from '../time-limits.ts'
import { receiveRequest, sendMessage, sleep } from '../workers/child-io.ts'
import { LimitedOutput } from '../workers/limited-output.ts'
import { limitMemory } from '../workers/memory-limit.ts'
import type { WorkerReady, WorkerRequest, WorkerResult } from '../workers/protocol.ts'
import { stripGlobals } from '../workers/strip-globals.ts'
import { Watchdog } from '../workers/watchdog.ts'
import { webAssembly } from '../workers/web-assembly.ts'
import { type Ending, runProgram } from './program.ts'

const exit = process.exit.bind(process)
const watchdog = new Watchdog()
const memory = limitMemory()
// By URL: resolved by name, it could be behind a symlink that this process may not follow.
const library = (await import(process.argv[3]!)) as typeof import('quickjs-emscripten')
const { newQuickJSWASMModuleFromVariant, newVariant, RELEASE_SYNC } = library
const wasmModule = await webAssembly.compile(readFileSync(process.argv[2]!))
const variant = newVariant(RELEASE_SYNC, { wasmModule })

/** Memory QuickJS itself needs in addition to the program's. */
const ownBytes = 32 * 2 ** 20
const encoder = new TextEncoder()
const outputs = [new LimitedOutput(1), new LimitedOutput(2)] as const
const clock = performance

function run(machine: Parameters<typeof runProgram>[0], request: WorkerRequest): WorkerResult {
  for (const output of outputs) output.open(request.outputBytes)
  memory.open(request.memoryMb * 2 ** 20 + ownBytes)
  let ending: Ending | undefined
  let sleptMs = 0
  const oversleeps = (): boolean => sleptMs > sleepAllowance * request.cpuMs
  watchdog.begin(request)
  try {
    ending = runProgram(machine, request, {
      write: (descriptor, text) => outputs[descriptor === 2 ? 1 : 0].write(encoder.encode(text)),
      sleep(ms) {
        sleep(ms)
        sleptMs += ms
      },
      now: () => clock.now(),
      timeIsUp: () => watchdog.exceeded !== undefined || oversleeps(),
    })
  } catch {
    // The WebAssembly instance crashed; it is discarded anyway.
  }
  memory.open(Number.POSITIVE_INFINITY)
  const exceeded = watchdog.end() ?? (oversleeps() ? 'cpu' : undefined)
  const killed = ending === undefined ? 'SIGABRT' : 'ended' in ending ? 'SIGKILL' : undefined
  return {
    token: request.token,
    exit: ending !== undefined && 'exit' in ending ? ending.exit : null,
    ...(killed === undefined ? {} : { signal: killed }),
    ...(ending !== undefined && 'ended' in ending && ending.ended === 'time' ? { exceeded } : {}),
    truncated: outputs.some((output) => output.truncated),
    outOfMemory: false,
    stdoutBytes: outputs[0].sent,
    stderrBytes: outputs[1].sent,
    tainted: ending === undefined,
    heapBytes: 0,
  }
}

let machine = await newQuickJSWASMModuleFromVariant(variant)
stripGlobals(() => {})
sendMessage({ ready: true } satisfies WorkerReady)

for (let request = receiveRequest(); request !== undefined; request = receiveRequest()) {
  const result = run(machine, request)
  sendMessage(result)
  if (result.tainted) break
  // Created after the result is sent, so that no program waits for it.
  machine = await newQuickJSWASMModuleFromVariant(variant)
}
exit(0)
