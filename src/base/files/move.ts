import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { removeTemporary } from './temporary-path.ts'

export interface DurabilityOptions {
  /** Whether the file must survive a power failure; it always survives a kill. */
  durable?: boolean | undefined
}

/** Moves a finished file or folder into place. An existing file is replaced; an existing folder is an error. */
export function moveIntoPlace(from: string, to: string, { durable = true }: DurabilityOptions = {}): void {
  if (durable) {
    if (statSync(from).isDirectory()) syncFolder(from)
    else sync(from)
  }
  renameSync(from, to)
  if (durable) syncFolder(dirname(to))
}

/**
 * Replaces a folder. A non-empty folder cannot be replaced by a single rename, so the old one is briefly renamed to
 * `aside`; a process killed at that moment leaves it there.
 */
export function swapFolder(from: string, to: string, aside: string): void {
  const replaces = existsSync(to)
  if (replaces) renameSync(to, aside)
  try {
    moveIntoPlace(from, to)
  } catch (error) {
    if (replaces) renameSync(aside, to)
    throw error
  }
  // The new folder is in place; leftovers that cannot be removed do no harm.
  removeTemporary(aside)
}

/** A rename is durable only once its folder is synced. Some file systems cannot sync folders, which is harmless. */
export function syncFolder(path: string): void {
  try {
    sync(path)
  } catch {}
}

function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** A second name for a file where the file system supports hard links, otherwise a copy. For files that are never edited. */
export function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch {
    copyFile(from, to)
  }
}

/** Shares the blocks until one of the files changes, where the file system supports that. */
export function copyFile(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_FICLONE)
}
