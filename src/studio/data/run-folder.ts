import { lstatSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { PathName } from '../../schema/index.ts'
import { runFiles } from '../../store/index.ts'
import { Problem } from '../problem.ts'

/** The folder of a run. Only what is in the folder of runs itself is one, wherever links lead. */
export function runFolder(runs: string, id: string): string {
  const dir = join(runs, id)
  if (!PathName.safeParse(id).success || !isOwn(dir, 'folder') || !isOwn(runFiles(dir).manifest, 'file'))
    throw new Problem(404, `there is no run ${JSON.stringify(id.slice(0, 100))}`)
  return dir
}

/** Whether this is a file or folder itself, not a link to one. */
export function isOwn(path: string, what: 'file' | 'folder'): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return what === 'file' ? stat?.isFile() === true : stat?.isDirectory() === true
}

/** A path inside a run folder; undefined if it does not exist or a link leads out of it. */
export function within(dir: string, ...names: string[]): string | undefined {
  try {
    const path = realpathSync(join(dir, ...names))
    return path.startsWith(realpathSync(dir) + sep) ? path : undefined
  } catch {
    return undefined
  }
}
