import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProjectConfig } from '../pipeline/settings.ts'
import { writeToml } from '../settings/index.ts'
import { createRun, type Run } from '../store/index.ts'
import { version } from './version.ts'

export function newRun(config: ProjectConfig, command: string, id?: string): Run {
  return createRun(config.project.runs, {
    command,
    coa: version,
    configToml: writeToml(config),
    ...(id === undefined ? {} : { id }),
  })
}

/** Works in a run. If the work fails and the run is new and still empty, it is deleted. */
export async function inRun<T>(run: Run, isNew: boolean, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const isEmpty = Object.values(run.kinds()).every((count) => count === 0)
    run.close()
    if (isNew && isEmpty) rmSync(run.dir, { recursive: true, force: true })
    throw error
  }
}

/** Works in a run that is deleted afterwards, for dry runs of what only writes. */
export async function inTemporaryRun<T>(
  config: ProjectConfig,
  command: string,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const runs = mkdtempSync(join(tmpdir(), 'coa-'))
  try {
    using run = newRun({ ...config, project: { ...config.project, runs } }, command)
    return await work(run)
  } finally {
    rmSync(runs, { recursive: true, force: true })
  }
}
