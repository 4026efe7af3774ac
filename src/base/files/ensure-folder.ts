import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { StoreError } from '../errors/index.ts'

/**
 * Makes a folder and those above it, one level at a time. Not with `recursive: true`: where the system answers that the
 * parent does not exist although it does, as /proc does, that never returns.
 */
export function ensureFolder(folder: string): void {
  const path = resolve(folder)
  if (existsSync(path)) return
  if (dirname(path) !== path) ensureFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (cause) {
    // Another process may have been faster.
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return
    throw new StoreError(`cannot make the folder ${path}: ${(cause as Error).message}`, {
      fix: 'Choose another folder, or check its rights.',
      cause,
    })
  }
}
