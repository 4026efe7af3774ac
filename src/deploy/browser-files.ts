import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { installBuild } from '../engine/index.ts'
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

export interface PageOptions {
  /** Whether a tool runs Python. */
  python: boolean
  /** Called before onnxruntime is downloaded, which happens once. */
  onStatus?: ((line: string) => void) | undefined
}

/** The page with everything it loads: nothing comes from another server. */
export async function copyPage(to: string, { python, onStatus }: PageOptions): Promise<void> {
  copyOwn('browser', to, (name) => python || name !== 'python-worker.js')
  const { folder } = await installBuild('wasm', { onStatus })
  copyFiles(folder, runtimeFiles, join(to, 'ort'))
  if (python) copyFiles(packageFolders('pyodide', import.meta.url).at(-1)!, pythonFiles, join(to, 'pyodide'))
}

function copyFiles(folder: string, files: readonly string[], to: string): void {
  mkdirSync(to, { recursive: true })
  for (const file of files) cpSync(join(folder, file), join(to, file.split('/').at(-1)!))
}
