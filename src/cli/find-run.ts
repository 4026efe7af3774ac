import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { nearestName, UsageError } from '../errors/index.ts'
import { listRuns } from '../store/index.ts'

/** The folder of a run given by id, by path, or as "latest". */
export function findRun(runsDir: string, name: string): string {
  const runs = listRuns(runsDir)
  if (name === 'latest') {
    const newest = runs.find((run) => run.problem === undefined)
    if (newest !== undefined) return newest.dir
    throw new UsageError(`there is no run in ${runsDir} yet`, { fix: 'Make one with `coa quickstart`.' })
  }
  const known = runs.find((run) => run.id === name)
  if (known !== undefined) return known.dir
  if (existsSync(join(name, 'manifest.json'))) return name
  const nearest = nearestName(
    name,
    runs.map((run) => run.id),
  )
  throw new UsageError(`there is no run called "${name}" in ${runsDir}`, {
    fix: nearest === undefined ? 'See `coa run list`.' : `Did you mean "${nearest}"?`,
  })
}
