import type { PyodideInterface } from 'pyodide'
import { freezeIntrinsics } from '../workers/frozen-intrinsics.ts'
import type { LimitedOutput } from '../workers/limited-output.ts'
import { stripGlobals } from '../workers/strip-globals.ts'
import { hideBuiltinModules } from './hide-builtin-modules.ts'
import { type Emscripten, errno, type FileSystem } from './internals.ts'
import { refuseDynamicCode } from './no-dynamic-code.ts'
import { pythonBootstrap } from './python-bootstrap.ts'

/** A Python interpreter with no access to the surrounding JavaScript. */
export interface SealedPython {
  files: FileSystem
  machine: Emscripten
  /** Runs the program at a path in its file system and returns the exit code. */
  run(path: string): unknown
}

export interface Streams {
  stdout: LimitedOutput
  stderr: LimitedOutput
  /** A byte that is set to interrupt the program. */
  interrupt: Uint8Array
  /** Whether output is currently discarded. */
  muted(): boolean
  /** Reads up to this many bytes from stdin. */
  read(length: number): Uint8Array
  /** Called when a program keeps writing despite errors; does not return. */
  flooded(): never
  /** Called when a program tries to load native code; does not return. */
  loadedCode(): never
}

/** Set when the interpreter crashed and is dumping its stack, on stdout. */
let broken = false

export interface Locations {
  /** The URL of pyodide's module: resolved by name, it could be behind a symlink that a worker may not follow. */
  library: string
  /** An archive of the standard library with compiled modules. */
  compiled: string | undefined
}

export async function sealedPython(
  { library, compiled }: Locations,
  streams: Streams,
): Promise<SealedPython> {
  const { loadPyodide } = (await import(library)) as typeof import('pyodide')
  // Emscripten reads a table of constants here for mounting host folders. We never mount any, and the permission
  // model forbids it.
  Object.defineProperty(process, 'binding', { value: () => ({ fs: {} }) })
  const removeCompiler = refuseDynamicCode(() => streams.loadedCode())
  const python = await loadPyodide({
    jsglobals: Object.create(null),
    env: { HOME: '/box', LANG: 'C.UTF-8' },
    ...(compiled === undefined ? {} : { stdLibURL: compiled }),
  })
  const { FS: files, _module: machine } = python as unknown as { FS: FileSystem; _module: Emscripten }
  connect(python, files, streams)
  python.setInterruptBuffer(streams.interrupt)
  files.mkdirTree('/box')
  files.chdir('/box')
  // Before the first import, which would leave a copy behind. ctypes could write anywhere in memory.
  hideBuiltinModules(machine.HEAPU8, ['_ctypes', '_ctypes_test', '_testcapi', '_testinternalcapi'])
  python.runPython(pythonBootstrap)
  const take = (name: string): ((...values: unknown[]) => unknown) => python.globals.get(name)
  const [run, seal, proxiesLeft] = [take('_run'), take('_seal'), take('_proxies_left')]
  seal!()
  hideBuiltinModules(machine.HEAPU8, ['_pyodide_core'])
  const left = proxiesLeft!()
  if (left !== '') throw new Error(`Python can still reach JavaScript: ${String(left)}`)
  stripGlobals(() => {
    broken = true
  })
  removeCompiler()
  freezeIntrinsics()
  return { files, machine, run: run! }
}

function connect(python: PyodideInterface, files: FileSystem, streams: Streams): void {
  for (const [output, set] of [
    [streams.stdout, python.setStdout],
    [streams.stderr, python.setStderr],
  ] as const) {
    set({
      isatty: false,
      write(bytes: Uint8Array) {
        if (streams.muted()) return bytes.length
        if ((broken ? streams.stderr : output).write(bytes)) return bytes.length
        if (output.ignoresErrors) streams.flooded()
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
