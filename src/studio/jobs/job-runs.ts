import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { readLock, runFiles } from '../../store/index.ts'
import { isOwn, runFolder, within } from '../data/run-folder.ts'
import { Problem } from '../problem.ts'
import type { JobsParts } from './jobs.ts'

/** What jobs need to know about runs. */
export function runsOf(folder: string): Pick<JobsParts, 'dirOf' | 'modelOf' | 'runOf'> {
  const root = resolve(folder)
  const dirOf = (run: string): string => runFolder(root, run)
  return {
    dirOf,
    modelOf: (run, checkpoint) => {
      const dir = dirOf(run)
      for (const name of checkpoint === undefined ? ['rl', 'sft', 'sft-last'] : [checkpoint]) {
        const found = /[/\\]/.test(name) ? undefined : within(dir, 'checkpoints', name)
        if (found !== undefined && within(dir, 'checkpoints', name, 'coa-checkpoint.json') !== undefined)
          return found
      }
      const what = checkpoint === undefined ? 'trained model' : `checkpoint ${JSON.stringify(checkpoint)}`
      throw new Problem(404, `run ${run} has no ${what}`)
    },
    runOf: (pid) => names(root).find((id) => isWrittenBy(resolve(root, id), pid)),
  }
}

function isWrittenBy(dir: string, pid: number): boolean {
  const { lock } = runFiles(dir)
  try {
    return isOwn(lock, 'file') && readLock(lock)?.pid === pid
  } catch {
    // Damaged; whoever opens the run is told.
    return false
  }
}

function names(root: string): string[] {
  try {
    return readdirSync(root)
  } catch {
    return []
  }
}
