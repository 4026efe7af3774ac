import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolders } from '../world/sandbox/workers/node-flags.ts'
import { copyOwn } from './own-folder.ts'

const runtimeFiles = ['ort.wasm.min.mjs', 'ort-wasm-simd-threaded.mjs', 'ort-wasm-simd-threaded.wasm'].map(
  (name) => `dist/${name}`,
)
const pythonFiles = [
  'pyodide.mjs',
  'pyodide.asm.mjs',
  'pyodide.asm.wasm',
  'python_stdlib.zip',
  'pyodide-lock.json',
]

/** The page with everything it loads: nothing comes from another server. Python is included if a tool runs it. */
export function copyPage(to: string, { python }: { python: boolean }): void {
  copyOwn('browser', to, (name) => python || name !== 'python-worker.js')
  copyPackage('onnxruntime-web', runtimeFiles, join(to, 'ort'))
  if (python) copyPackage('pyodide', pythonFiles, join(to, 'pyodide'))
}

function copyPackage(name: string, files: readonly string[], to: string): void {
  const folder = packageFolders(name, import.meta.url).at(-1)!
  mkdirSync(to, { recursive: true })
  for (const file of files) cpSync(join(folder, file), join(to, file.split('/').at(-1)!))
}
