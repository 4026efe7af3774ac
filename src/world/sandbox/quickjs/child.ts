/** The program of a warm JavaScript child. Each run gets an instance of WebAssembly of its own. */
import { readFileSync } from 'node:fs'
import { sleepAllowance } from '../time-limits.ts'
import { bareGlobals } from '../warm/bare-globals.ts'
import { hear, say, sleep } from '../warm/child-side.ts'
import { limitMemory } from '../warm/memory-limit.ts'
import { OutputGate } from '../warm/output-gate.ts'
import type { ChildAnswer, ChildReady, ChildRequest } from '../warm/protocol.ts'
import { Watch } from '../warm/watch.ts'
import { webAssembly } from '../warm/web-assembly.ts'
import { type Ending, runProgram } from './program.ts'

const exit = process.exit.bind(process)
const watch = new Watch()
const memory = limitMemory()
// By address: by name it could lie behind a link that this process may not follow.
const library = (await import(process.argv[3]!)) as typeof import('quickjs-emscripten')
const { newQuickJSWASMModuleFromVariant, newVariant, RELEASE_SYNC } = library
const wasmModule = await webAssembly.compile(readFileSync(process.argv[2]!))
const variant = newVariant(RELEASE_SYNC, { wasmModule })

/** What QuickJS itself needs beside the program's memory. */
const ownBytes = 32 * 2 ** 20
const encoder = new TextEncoder()
const outputs = [new OutputGate(1), new OutputGate(2)] as const
const clock = performance

function run(machine: Parameters<typeof runProgram>[0], request: ChildRequest): ChildAnswer {
  for (const output of outputs) output.open(request.outputBytes)
  memory.open(request.memoryMb * 2 ** 20 + ownBytes)
  let ending: Ending | undefined
  let sleptMs = 0
  const oversleeps = (): boolean => sleptMs > sleepAllowance * request.cpuMs
  watch.begin(request)
  try {
    ending = runProgram(machine, request, {
      write: (descriptor, text) => outputs[descriptor === 2 ? 1 : 0].write(encoder.encode(text)),
      sleep(ms) {
        sleep(ms)
        sleptMs += ms
      },
      now: () => clock.now(),
      late: () => watch.late !== undefined || oversleeps(),
    })
  } catch {
    // The machine broke; it is thrown away anyway.
  }
  memory.open(Number.POSITIVE_INFINITY)
  const late = watch.end() ?? (oversleeps() ? 'cpu' : undefined)
  const killed = ending === undefined ? 'SIGABRT' : 'ended' in ending ? 'SIGKILL' : undefined
  return {
    token: request.token,
    exit: ending !== undefined && 'exit' in ending ? ending.exit : null,
    ...(killed === undefined ? {} : { signal: killed }),
    ...(ending !== undefined && 'ended' in ending && ending.ended === 'time' ? { late } : {}),
    truncated: outputs.some((output) => output.truncated),
    outOfMemory: false,
    stdoutBytes: outputs[0].sent,
    stderrBytes: outputs[1].sent,
    spent: ending === undefined,
    heapBytes: 0,
  }
}

let machine = await newQuickJSWASMModuleFromVariant(variant)
bareGlobals(() => {})
say({ ready: true, version: 'QuickJS' } satisfies ChildReady)

for (let request = hear(); request !== undefined; request = hear()) {
  const result = run(machine, request)
  say(result)
  if (result.spent) break
  // Made after the answer, so that no program waits for it.
  machine = await newQuickJSWASMModuleFromVariant(variant)
}
exit(0)
