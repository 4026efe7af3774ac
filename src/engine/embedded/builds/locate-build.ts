import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type BuildName, buildFolder, builds } from './builds.ts'

/** A build that can be imported. */
export interface InstalledBuild {
  folder: string
  /** The file of the module to import. */
  entry: string
}

/**
 * Where a build is installed: next to this package, as in a clone or a project that depends on it, or in the cache folder. Another
 * version that happens to be installed is not used: numbers would change with the project that coa is installed in.
 */
export function locateBuild(name: BuildName): InstalledBuild | undefined {
  const { packages, entry, alsoNeeded } = builds[name]
  const candidates = [nextToUs(packages[0].name), join(buildFolder(name), 'node_modules', packages[0].name)]
  const folder = candidates.find(
    (candidate) =>
      candidate !== undefined &&
      versionIn(candidate) === packages[0].version &&
      alsoNeeded.every((file) => existsSync(join(candidate, file))),
  )
  return folder === undefined ? undefined : { folder, entry: join(folder, entry) }
}

function nextToUs(name: string): string | undefined {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch {
    return undefined
  }
}

function versionIn(folder: string): string | undefined {
  const file = join(folder, 'package.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined
}
