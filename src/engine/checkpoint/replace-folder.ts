import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  ensureFolder,
  moveIntoPlace,
  removeLeftovers,
  swapFolder,
  temporaryPath,
} from '../../base/files/index.ts'
import { MANIFEST_FILE, readManifest } from './checkpoint-manifest.ts'
import { EngineError } from './engine-error.ts'

/*
 * While a checkpoint is replaced, the old one is briefly moved aside (`swapFolder`). If the process is killed at that
 * moment, readers find it under its other name (`currentFolder`), and the next save moves it back first.
 */

function previousOf(folder: string): string {
  return join(dirname(folder), `.${basename(folder)}.coa-previous`)
}

/** The current location of the checkpoint `folder`. */
export function currentFolder(folder: string): string {
  return !existsSync(folder) && existsSync(previousOf(folder)) ? previousOf(folder) : folder
}

/** Deletes a checkpoint, including a copy that a killed process left under its other name. */
export function removeCheckpoint(folder: string): void {
  checkReplaceable(folder)
  for (const each of [previousOf(folder), folder]) rmSync(each, { recursive: true, force: true })
}

/** Rejects a folder with other content than a coa checkpoint. Call it before a long training run. */
export function checkReplaceable(folder: string): void {
  // A damaged manifest is an error here: without it, the files to replace are unknown.
  if (!existsSync(folder) || readManifest(folder) !== undefined) return
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    names = ['a file']
  }
  if (names.length === 0) return
  throw new EngineError(`${folder} exists and is not a coa checkpoint`, {
    fix: 'Choose another folder, or delete this one first.',
    details: { folder },
  })
}

/**
 * Fills a temporary folder and moves it to `folder` when it is complete. A failure before that point leaves the folder
 * unchanged; unrelated files in it are carried over.
 */
export function replaceFolder(folder: string, fill: (temporary: string) => void): void {
  ensureFolder(dirname(folder))
  finishInterrupted(folder)
  checkReplaceable(folder)
  removeLeftovers(dirname(folder), basename(folder))
  const temporary = temporaryPath(folder)
  try {
    ensureFolder(temporary)
    fill(temporary)
    if (existsSync(folder)) carryOverOtherFiles(folder, temporary)
    swapFolder(temporary, folder, previousOf(folder))
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true })
    throw error
  }
}

/** Completes a replacement that was interrupted by a killed process. */
function finishInterrupted(folder: string): void {
  if (!existsSync(previousOf(folder))) return
  if (existsSync(folder)) rmSync(previousOf(folder), { recursive: true, force: true })
  else moveIntoPlace(previousOf(folder), folder)
}

function carryOverOtherFiles(folder: string, temporary: string): void {
  const ours = new Set([MANIFEST_FILE, ...(readManifest(folder)?.files ?? []).map(({ path }) => path)])
  for (const name of readdirSync(folder)) {
    if (ours.has(name) || existsSync(join(temporary, name))) continue
    cpSync(join(folder, name), join(temporary, name), { recursive: true, verbatimSymlinks: true })
  }
}
