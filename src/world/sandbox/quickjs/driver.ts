import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { childFlags, childScript, packageFolders, packageFoldersDeep } from '../workers/node-flags.ts'
import { WorkerPool } from '../workers/worker-pool.ts'

/**
 * JavaScript in QuickJS compiled to WebAssembly, in a pool of worker processes; every run gets a new WebAssembly
 * instance.
 *
 * Programs have the language (ES2023), `console`, `print`, `readline()` (the next line of stdin or null), `stdin`
 * (all of it as a string), timers, promises, modules and `require` for the given files, and the parts of Node that
 * short programs use: `process.exit`, `process.stdout.write`, `process.stdin`, `fs.readFileSync`, `readline`.
 *
 * Not covered:
 * - The rest of Node and the web platform; `console.log` prints long objects on one line where Node would break them.
 * - Unhandled promise rejections, except a module's own, are not reported.
 * - QuickJS is an interpreter: about 30 times slower than V8 on loops.
 * - A vulnerability in V8 reaches the worker process, where Node's permission model blocks files, processes and
 *   add-ons but, in Node 24, not sockets. A vulnerability in QuickJS stays within its WebAssembly instance, which is
 *   discarded.
 * - `processes` and `fileBytes` have no effect: files are values in the program's own memory.
 * - The interpreter checks the time limits between steps; a single long step (such as a large regular expression) is
 *   stopped from outside, up to a quarter of a second late.
 */
export function openQuickjs(options: { concurrency?: number } = {}): WorkerPool {
  const folders = new Set(packageFoldersDeep('quickjs-emscripten', import.meta.url))
  const own = packageFolders('quickjs-emscripten', import.meta.url).at(-1)!
  const library = pathToFileURL(join(own, 'dist/index.mjs')).href
  const variant = packageFolders('@jitl/quickjs-wasmfile-release-sync', library).at(-1)!
  const wasm = join(variant, 'dist/emscripten-module.wasm')
  return new WorkerPool(
    'javascript',
    {
      driver: 'quickjs',
      arguments: async () => [...childFlags(childScript(import.meta.url), [...folders], 256), wasm, library],
      baseMemoryMb: 512,
      startMs: 60_000,
      graceMs: 250,
    },
    options.concurrency ?? availableParallelism(),
  )
}
