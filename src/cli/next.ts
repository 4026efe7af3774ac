import { existsSync, realpathSync } from 'node:fs'
import { basename, delimiter, dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readEnvironment } from '../settings/index.ts'

/** The launcher; sources and built files are at the same depth below the package root. */
const ownFile = fileURLToPath(new URL('../../bin/coa.js', import.meta.url))

export interface Place {
  cwd: string
  environment: Record<string, string | undefined>
  /** The launcher's path. */
  bin: string
}

const here = (): Place => ({ cwd: process.cwd(), environment: readEnvironment(), bin: ownFile })

/** "Next:" and commands, each given as its words, to paste into the shell that coa was called from. */
export function nextLines(commands: readonly (readonly string[])[], place: Place = here()): string[] {
  const { cwd, environment } = place
  const lines = commands.map((words) => `  ${commandLine(words, place)}`)
  // npm runs scripts in the package's folder, no matter where it was called from.
  const calledFrom = environment['npm_lifecycle_event'] === undefined ? undefined : environment['INIT_CWD']
  const isElsewhere = calledFrom !== undefined && resolve(calledFrom) !== resolve(cwd)
  return ['Next:', ...(isElsewhere ? [`  cd ${quoted(cwd)}`] : []), ...lines]
}

/** A coa command line that works here. */
export function commandLine(words: readonly string[], place: Place = here()): string {
  return [callOf(place), ...words.map(quoted)].join(' ')
}

/**
 * `coa` if it is on the PATH, `npx coa` in a clone or a project that depends on it, `npx chain-of-agents` if npx has downloaded
 * it, otherwise the launcher's path.
 */
function callOf({ cwd, environment, bin }: Place): string {
  const folders = (environment['PATH'] ?? environment['Path'] ?? '').split(delimiter)
  // npm and npx prepend these to the PATH of the shell they were called from.
  const own = folders.filter((folder) => folder !== '' && !/node_modules[\\/]\.bin$/.test(folder))
  if (own.some((folder) => isSameFile(join(folder, 'coa'), bin) || existsSync(join(folder, 'coa.cmd'))))
    return 'coa'
  if (bin.split(sep).includes('_npx')) return 'npx chain-of-agents'
  const root = dirname(dirname(bin))
  const isInClone = basename(dirname(root)) !== 'node_modules' && isWithin(cwd, root)
  return isInClone || isInstalledAbove(cwd, bin) ? 'npx coa' : `node ${quoted(bin)}`
}

const isWithin = (path: string, folder: string): boolean =>
  resolve(path) === resolve(folder) || resolve(path).startsWith(resolve(folder) + sep)

function isInstalledAbove(cwd: string, bin: string): boolean {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    if (isSameFile(join(folder, 'node_modules', '.bin', 'coa'), bin)) return true
    if (dirname(folder) === folder) return false
  }
}

function isSameFile(path: string, bin: string): boolean {
  try {
    return realpathSync(path) === realpathSync(bin)
  } catch {
    return false
  }
}

/** A word, quoted for a shell if necessary. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Relative to the current folder, if the path is below it. */
export function shortPath(path: string): string {
  const near = relative('.', path)
  return near.startsWith('..') || near === '' ? path : near
}
