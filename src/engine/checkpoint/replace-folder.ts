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
 * While a checkpoint is replaced, the old one is moved aside for a moment (`swapFolder`). A process killed there leaves it
 * under its other name: readers look there (`currentFolder`), and the next save moves it back first.
 */

function previousOf(folder: string): string {
  return join(dirname(folder), `.${basename(folder)}.coa-previous`)
}

/** Where the checkpoint `folder` lies at this moment. */
export function currentFolder(folder: string): string {
  return !existsSync(folder) && existsSync(previousOf(folder)) ? previousOf(folder) : folder
}

/** Removes a checkpoint, and what a killed process may have left of it under its other name. */
export function removeCheckpoint(folder: string): void {
  checkReplaceable(folder)
  for (const each of [previousOf(folder), folder]) rmSync(each, { recursive: true, force: true })
}

/** Refuses to replace a folder that holds something other than a checkpoint of ours. Worth asking before a long training. */
export function checkReplaceable(folder: string): void {
  // A damaged manifest is an error here: without it the files to replace are not known.
  if (!existsSync(folder) || readManifest(folder) !== undefined) return
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    names = ['a file']
  }
  if (names.length === 0) return
  throw new EngineError(`${folder} exists and is not a checkpoint of coa`, {
    fix: 'Choose another folder, or remove this one first.',
    details: { folder },
  })
}

/**
 * Fills a folder beside `folder` and puts it in its place when it is whole. What happens before that point leaves the
 * folder as it was; files in it that are not the old checkpoint's go along.
 */
export function replaceFolder(folder: string, fill: (temporary: string) => void): void {
  ensureFolder(dirname(folder))
  settle(folder)
  checkReplaceable(folder)
  removeLeftovers(dirname(folder), basename(folder))
  const temporary = temporaryPath(folder)
  try {
    ensureFolder(temporary)
    fill(temporary)
    if (existsSync(folder)) keepOthersFiles(folder, temporary)
    swapFolder(temporary, folder, previousOf(folder))
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true })
    throw error
  }
}

/** Ends what a killed process had begun. */
function settle(folder: string): void {
  if (!existsSync(previousOf(folder))) return
  if (existsSync(folder)) rmSync(previousOf(folder), { recursive: true, force: true })
  else moveIntoPlace(previousOf(folder), folder)
}

function keepOthersFiles(folder: string, temporary: string): void {
  const ours = new Set([MANIFEST_FILE, ...(readManifest(folder)?.files ?? []).map(({ path }) => path)])
  for (const name of readdirSync(folder)) {
    if (ours.has(name) || existsSync(join(temporary, name))) continue
    cpSync(join(folder, name), join(temporary, name), { recursive: true, verbatimSymlinks: true })
  }
}
