import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, QuickJSWASMModule } from 'quickjs-emscripten'
import type { WorkerRequest } from '../workers/protocol.ts'
import { javascriptBootstrap } from './javascript-bootstrap.ts'

export interface ProgramHost {
  /** Returns false if the program must stop. */
  write(descriptor: number, text: string): boolean
  sleep(ms: number): void
  now(): number
  /** Whether a time limit was reached. */
  timeIsUp(): boolean
}

export type Ending = { exit: number } | { ended: 'time' | 'flood' }

/** QuickJS's stack is inside WebAssembly's own; with a larger one, WebAssembly would overflow first. */
const stackBytes = 256 * 1024

/** Runs one program to completion: its first pass, then promises and timers until none is left. */
export function runProgram(machine: QuickJSWASMModule, request: WorkerRequest, host: ProgramHost): Ending {
  const runtime = machine.newRuntime()
  runtime.setMemoryLimit(request.memoryMb * 2 ** 20)
  runtime.setMaxStackSize(stackBytes)
  let ending: Ending | undefined
  const stopped = (): boolean => {
    if (ending === undefined && host.timeIsUp()) ending = { ended: 'time' }
    return ending !== undefined
  }
  runtime.setInterruptHandler(stopped)
  const stop = (how: Ending): void => {
    ending ??= how
  }
  const context = runtime.newContext()
  const files = { ...request.files }
  loadModules(runtime, files)
  try {
    const loop = prepare(context, request, host, stop)
    const kind = moduleOrScript(context, request.code)
    const result = context.evalCode(request.code, 'main.js', { type: kind })
    if (result.error) throw new Uncaught(describe(context, result.error))
    runEventLoop(context, runtime, loop, host, stopped)
    const state = kind === 'module' ? context.getPromiseState(result.value) : undefined
    if (state?.type === 'rejected') throw new Uncaught(describe(context, state.error))
    return ending ?? { exit: Number(call(context, loop, 'exitCode')) & 255 }
  } catch (error) {
    if (ending !== undefined) return ending
    host.write(2, `${error instanceof Uncaught ? error.message : `InternalError: ${String(error)}`}\n`)
    return { exit: 1 }
  }
  // Nothing is disposed of: the whole instance is discarded.
}

/** As in Node: code that parses as a module but not as a script is a module. */
function moduleOrScript(context: QuickJSContext, code: string): 'module' | 'global' {
  const parses = (type: 'module' | 'global'): boolean => {
    const result = context.evalCode(code, 'main.js', { type, compileOnly: true })
    result.dispose()
    return result.error === undefined
  }
  return !parses('global') && parses('module') ? 'module' : 'global'
}

class Uncaught extends Error {}

function describe(context: QuickJSContext, handle: QuickJSHandle): string {
  const value: unknown = context.dump(handle)
  if (typeof value !== 'object' || value === null) return `Uncaught ${String(value)}`
  const { name, message, stack } = value as { name?: string; message?: string; stack?: string }
  const frames = String(stack ?? '')
    .split('\n')
    .slice(0, 12)
  return `Uncaught ${name ?? 'Error'}: ${message ?? ''}\n${frames.join('\n')}`.trimEnd()
}

/**
 * Strings are cut at a NUL when they enter or leave QuickJS, so NUL is escaped as \x01 0, and \x01 itself as \x01 1.
 */
const escapeNul = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones meant
  text.replace(/[\0\x01]/g, (character) => (character === '\0' ? '\x010' : '\x011'))
const unescapeNul = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones meant
  text.replace(/\x01([01])/g, (_, which) => (which === '0' ? '\0' : '\x01'))

function prepare(
  context: QuickJSContext,
  request: WorkerRequest,
  host: ProgramHost,
  stop: (how: Ending) => void,
): QuickJSHandle {
  const object = context.newObject()
  const setHost = (name: string, value: QuickJSHandle): void => context.setProp(object, name, value)
  setHost(
    'write',
    context.newFunction('write', (descriptor, text) => {
      const unescaped = unescapeNul(context.getString(text))
      if (!host.write(context.getNumber(descriptor), unescaped)) stop({ ended: 'flood' })
    }),
  )
  setHost(
    'exit',
    context.newFunction('exit', (code) => stop({ exit: (context.getNumber(code) || 0) & 255 })),
  )
  setHost(
    'now',
    context.newFunction('now', () => context.newNumber(host.now())),
  )
  setHost('stdin', context.newString(escapeNul(request.stdin)))
  const files = context.newObject()
  for (const [path, text] of Object.entries(request.files))
    context.setProp(files, path, context.newString(escapeNul(text)))
  setHost('files', files)
  const make = context.unwrapResult(context.evalCode(javascriptBootstrap, 'sandbox.js'))
  return context.unwrapResult(context.callFunction(make, context.undefined, object))
}

function runEventLoop(
  context: QuickJSContext,
  runtime: QuickJSRuntime,
  loop: QuickJSHandle,
  host: ProgramHost,
  stopped: () => boolean,
): void {
  while (!stopped()) {
    const jobs = runtime.executePendingJobs()
    if (jobs.error) throw new Uncaught(describe(context, jobs.error))
    if (runtime.hasPendingJob()) continue
    const wait = Number(call(context, loop, 'wait'))
    if (wait < 0) return
    // In short steps, so that the limits are checked.
    if (wait > 0) host.sleep(Math.min(wait, 20))
    if (wait <= 20) call(context, loop, 'fire')
  }
}

function call(context: QuickJSContext, loop: QuickJSHandle, name: string): unknown {
  const result = context.callMethod(loop, name)
  if (result.error) throw new Uncaught(describe(context, result.error))
  return context.dump(result.value)
}

function loadModules(runtime: QuickJSRuntime, files: Record<string, string>): void {
  runtime.setModuleLoader(
    (name) => files[name] ?? { error: new Error(`Cannot find module '${name}'`) },
    (base, name) => {
      if (!name.startsWith('.')) return name.replace(/^\/box\//, '')
      const folder = base.split('/').slice(0, -1)
      for (const part of name.split('/')) {
        if (part === '..') folder.pop()
        else if (part !== '.') folder.push(part)
      }
      return folder.join('/')
    },
  )
}
