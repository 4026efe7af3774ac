import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { StoreError } from '../errors/index.ts'

/**
 * Creates a folder and its parents one level at a time. `recursive: true` never returns where the system reports an
 * existing parent as missing, as /proc does.
 */
export function ensureFolder(folder: string): void {
  const path = resolve(folder)
  if (existsSync(path)) return
  if (dirname(path) !== path) ensureFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (cause) {
    // Another process may have created it first.
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return
    throw new StoreError(`cannot create the folder ${path}: ${(cause as Error).message}`, {
      fix: 'Choose another folder, or check its permissions.',
      cause,
    })
  }
}
