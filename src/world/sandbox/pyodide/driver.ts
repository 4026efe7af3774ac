import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { childFlags, childScript, packageFolders } from '../warm/node-flags.ts'
import { WarmPool } from '../warm/warm-pool.ts'

/**
 * CPython compiled to WebAssembly, in warm child processes, with nothing installed but npm packages. Between two
 * runs the interpreter's whole memory and file system are laid back to a picture taken before the first.
 *
 * Programs see an in-memory file system and no host at all. Layers, from inside: WebAssembly; no Python object leads
 * to JavaScript; no code from strings; no process, fetch or timers in the child's globals; Node's permission model
 * (reads of the interpreter's files only); an empty environment; a process that is killed at the limits.
 *
 * Not covered:
 * - A fault of V8, or of CPython's memory safety joined with one in the glue code, reaches the child process. There
 *   the permission model stops files, processes and add-ons; in Node 24 it does not stop sockets.
 * - Differences from native Python: no threads, processes, sockets or ctypes; only pure Python packages of the
 *   standard library; some five to ten times slower.
 * - The child's memory outside of WebAssembly (files, pipes) is sampled every 100 ms, on Linux only; elsewhere V8's
 *   heap limit is all there is.
 * - At its time limits a program is first asked to stop by a KeyboardInterrupt, which saves the restart; one that does
 *   not within a quarter of a second is killed. Sleeping is done by looking at the clock and counts as processor time.
 * - `processes` has no meaning: a program cannot start any.
 * - The hash seed is the same for all runs of a child; `random` is seeded afresh.
 */
export function openPyodide(options: { concurrency?: number } = {}): WarmPool {
  // Not what it depends on: with `ws` emscripten could open sockets.
  const folders = packageFolders('pyodide', import.meta.url)
  const library = pathToFileURL(join(folders.at(-1)!, 'pyodide.mjs')).href
  return new WarmPool(
    'python',
    {
      driver: 'pyodide',
      arguments: [...childFlags(childScript(import.meta.url), folders, 256), library],
      baseMemoryMb: 512,
      startMs: 120_000,
      graceMs: 250,
    },
    options.concurrency ?? availableParallelism(),
  )
}
