import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { childFlags, childScript, packageFolders } from '../workers/node-flags.ts'
import { WorkerPool } from '../workers/worker-pool.ts'
import { compiledLibrary } from './compiled-library.ts'

/**
 * CPython compiled to WebAssembly, in a pool of worker processes; needs nothing but npm packages. After each run the
 * interpreter's memory and file system are restored from a snapshot taken before the first.
 *
 * Programs see an in-memory file system and nothing of the host. The layers, from the inside: WebAssembly; no Python
 * object leads to JavaScript; no code from strings; no process, fetch or timers in the worker's globals; Node's
 * permission model (only the interpreter's files can be read); an empty environment; a process that is killed at the
 * limits.
 *
 * Not covered:
 * - A vulnerability in V8, or a memory safety bug in CPython combined with one in the glue code, reaches the worker
 *   process. There the permission model blocks files, processes and add-ons; in Node 24 it does not block sockets.
 * - Differences from native Python: no threads, processes, sockets or ctypes; only the pure Python part of the
 *   standard library; about five to ten times slower.
 * - The worker's memory outside WebAssembly (files, pipes) is sampled every 100 ms, on Linux only; elsewhere V8's
 *   heap limit is the only bound.
 * - At its time limits a program is first interrupted with a KeyboardInterrupt, which avoids a restart; if it does
 *   not stop within a quarter of a second it is killed. Sleeping is a busy wait and counts as CPU time.
 * - `processes` has no effect: a program cannot start any.
 * - The standard library comes from the user's cache folder, compiled: whoever can write there can change it.
 * - The hash seed is the same for all runs of a worker; `random` is reseeded for each.
 */
export function openPyodide(options: { concurrency?: number } = {}): WorkerPool {
  // Without its dependencies: with `ws`, emscripten could open sockets.
  const folders = packageFolders('pyodide', import.meta.url)
  const library = pathToFileURL(join(folders.at(-1)!, 'pyodide.mjs')).href
  const script = childScript(import.meta.url)
  return new WorkerPool(
    'python',
    {
      driver: 'pyodide',
      arguments: async () => {
        const compiled = await compiledLibrary(library, folders)
        const extra = compiled === undefined ? [] : [compiled]
        return [...childFlags(script, [...folders, ...extra], 256), library, ...extra]
      },
      baseMemoryMb: 512,
      startMs: 120_000,
      graceMs: 250,
    },
    options.concurrency ?? availableParallelism(),
  )
}
