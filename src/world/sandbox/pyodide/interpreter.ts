import type { PyodideInterface } from 'pyodide'
import { bareGlobals } from '../warm/bare-globals.ts'
import { freezeIntrinsics } from '../warm/frozen-intrinsics.ts'
import type { OutputGate } from '../warm/output-gate.ts'
import { hideBuiltinModules } from './hide-names.ts'
import { type Emscripten, errno, type FileSystem } from './internals.ts'
import { refuseDynamicCode } from './no-dynamic-code.ts'
import { pythonSide } from './python-side.ts'

/** A Python that knows nothing of the JavaScript around it. */
export interface SealedPython {
  version: string
  files: FileSystem
  machine: Emscripten
  /** Runs the program at a path of its file system and gives its exit code. */
  run(path: string): unknown
}

export interface Streams {
  stdout: OutputGate
  stderr: OutputGate
  /** A byte that is set when the program should stop. */
  interrupt: Uint8Array
  /** Whether what is written now is thrown away. */
  muted(): boolean
  /** Takes up to so many bytes from stdin. */
  read(length: number): Uint8Array
  /** Called when a program writes on and on against errors; does not return. */
  flooded(): never
  /** Called when a program wants to load code into the machine; does not return. */
  loadedCode(): never
}

/** The interpreter broke and dumps its stack, on stdout. */
let broken = false

/** `library` is the address of pyodide's module: by name it could lie behind a link that a child may not follow. */
export async function sealedPython(library: string, streams: Streams): Promise<SealedPython> {
  const { loadPyodide } = (await import(library)) as typeof import('pyodide')
  // Emscripten reads a table of constants here, which the permission model forbids, for host folders we never mount.
  Object.defineProperty(process, 'binding', { value: () => ({ fs: {} }) })
  const removeCompiler = refuseDynamicCode(() => streams.loadedCode())
  const python = await loadPyodide({
    jsglobals: Object.create(null),
    env: { HOME: '/box', LANG: 'C.UTF-8' },
  })
  const { FS: files, _module: machine } = python as unknown as { FS: FileSystem; _module: Emscripten }
  connect(python, files, streams)
  python.setInterruptBuffer(streams.interrupt)
  files.mkdirTree('/box')
  files.chdir('/box')
  // Before the first import: one that has happened leaves a copy behind. ctypes could write anywhere in memory.
  hideBuiltinModules(machine.HEAPU8, ['_ctypes', '_ctypes_test', '_testcapi', '_testinternalcapi'])
  python.runPython(pythonSide)
  const take = (name: string): ((...values: unknown[]) => unknown) => python.globals.get(name)
  const [run, seal, proxiesLeft] = [take('_run'), take('_seal'), take('_proxies_left')]
  seal!()
  hideBuiltinModules(machine.HEAPU8, ['_pyodide_core'])
  const left = proxiesLeft!()
  if (left !== '') throw new Error(`Python can still reach JavaScript: ${String(left)}`)
  const { version } = python
  bareGlobals(() => {
    broken = true
  })
  removeCompiler()
  freezeIntrinsics()
  return { version, files, machine, run: run! }
}

function connect(python: PyodideInterface, files: FileSystem, streams: Streams): void {
  for (const [gate, set] of [
    [streams.stdout, python.setStdout],
    [streams.stderr, python.setStderr],
  ] as const) {
    set({
      isatty: false,
      write(bytes: Uint8Array) {
        if (streams.muted()) return bytes.length
        if ((broken ? streams.stderr : gate).write(bytes)) return bytes.length
        if (gate.incorrigible) streams.flooded()
        throw new files.ErrnoError(errno.inputOutput)
      },
    })
  }
  python.setStdin({
    isatty: false,
    read(buffer: Uint8Array) {
      const part = streams.read(buffer.length)
      buffer.set(part)
      return part.length
    },
  })
}
