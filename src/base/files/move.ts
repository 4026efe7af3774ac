import { closeSync, existsSync, fsyncSync, openSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { removeTemporary } from './temporary-path.ts'

export interface Publishing {
  /** Whether it has to survive a power cut; a kill it always survives. */
  durable?: boolean | undefined
}

/** Gives a finished file or folder its name. It replaces a file of that name; a folder of that name must not exist. */
export function moveIntoPlace(from: string, to: string, { durable = true }: Publishing = {}): void {
  if (durable) {
    if (statSync(from).isDirectory()) syncFolder(from)
    else sync(from)
  }
  renameSync(from, to)
  if (durable) syncFolder(dirname(to))
}

/**
 * Puts a finished folder in the place of another. A folder with files in it cannot be replaced by one rename, so the old
 * one is called `aside` for a moment: a process killed there leaves it under that name.
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
  // The new one is in place: what cannot be removed now is in nobody's way.
  removeTemporary(aside)
}

/** A new name is durable only when its folder is. Some file systems cannot sync a folder; then nothing is lost by it. */
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
