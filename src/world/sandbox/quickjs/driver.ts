import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { childFlags, childScript, packageFolders, packageFoldersDeep } from '../warm/node-flags.ts'
import { WarmPool } from '../warm/warm-pool.ts'

/**
 * JavaScript in QuickJS compiled to WebAssembly, in warm child processes; every run gets a new WebAssembly instance.
 *
 * Programs have the language (ES2023), `console`, `print`, `readline()` (the next line of stdin or null), `stdin` (all
 * of it as a string), timers, promises, modules and `require` for the given files, and the part of Node that short
 * programs use: `process.exit`, `process.stdout.write`, `process.stdin`, `fs.readFileSync`, `readline`.
 *
 * Not covered:
 * - Anything else of Node or the web; `console.log` lays out long objects on one line where Node breaks them.
 * - A rejected promise that nobody handles, unless it is a module's own: it is not reported.
 * - QuickJS interprets: some 30 times slower than V8 on loops.
 * - A fault of V8 reaches the child process, where Node's permission model stops files, processes and add-ons but, in
 *   Node 24, not sockets. A fault of QuickJS stays within its WebAssembly instance, which is thrown away.
 * - `processes` and `fileBytes` have no meaning: files are values in the program's own memory.
 * - The interpreter checks the time limits between steps; a single long step (a big regular expression) is ended from
 *   outside, up to a quarter of a second late.
 */
export function openQuickjs(options: { concurrency?: number } = {}): WarmPool {
  const folders = new Set(packageFoldersDeep('quickjs-emscripten', import.meta.url))
  const own = packageFolders('quickjs-emscripten', import.meta.url).at(-1)!
  const library = pathToFileURL(join(own, 'dist/index.mjs')).href
  const variant = packageFolders('@jitl/quickjs-wasmfile-release-sync', library).at(-1)!
  const wasm = join(variant, 'dist/emscripten-module.wasm')
  return new WarmPool(
    'javascript',
    {
      driver: 'quickjs',
      arguments: [...childFlags(childScript(import.meta.url), [...folders], 256), wasm, library],
      baseMemoryMb: 512,
      startMs: 60_000,
      graceMs: 250,
    },
    options.concurrency ?? availableParallelism(),
  )
}
