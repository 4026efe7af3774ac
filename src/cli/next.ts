import { existsSync, realpathSync } from 'node:fs'
import { basename, delimiter, dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readEnvironment } from '../settings/index.ts'

/** The command's own file; the sources and what is built of them lie equally deep. */
const ownFile = fileURLToPath(new URL('../../bin/coa.js', import.meta.url))

export interface Place {
  cwd: string
  environment: Record<string, string | undefined>
  /** The file that the command is. */
  bin: string
}

const here = (): Place => ({ cwd: process.cwd(), environment: readEnvironment(), bin: ownFile })

/** Commands to go on with, each given by its words, as lines that can be pasted into the shell coa was called from. */
export function nextLines(commands: readonly (readonly string[])[], place: Place = here()): string[] {
  const { cwd, environment } = place
  const lines = commands.map((words) => `  ${commandLine(words, place)}`)
  // npm runs scripts in the package's folder, wherever it was called.
  const calledFrom = environment['npm_lifecycle_event'] === undefined ? undefined : environment['INIT_CWD']
  const isElsewhere = calledFrom !== undefined && resolve(calledFrom) !== resolve(cwd)
  return ['Next:', ...(isElsewhere ? [`  cd ${quoted(cwd)}`] : []), ...lines]
}

/** A command of coa as it can be called here. */
export function commandLine(words: readonly string[], place: Place = here()): string {
  return [callOf(place), ...words.map(quoted)].join(' ')
}

/** `coa` where it is on the path, `npx coa` in a clone or a project that has it, else the file itself. */
function callOf({ cwd, environment, bin }: Place): string {
  const folders = (environment['PATH'] ?? environment['Path'] ?? '').split(delimiter)
  // npm and npx put these before the path of the shell they were called from.
  const own = folders.filter((folder) => folder !== '' && !/node_modules[\\/]\.bin$/.test(folder))
  if (own.some((folder) => isSameFile(join(folder, 'coa'), bin) || existsSync(join(folder, 'coa.cmd'))))
    return 'coa'
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

/** One word for a shell, whatever it holds. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** From where the command was given, if it lies below. */
export function shortPath(path: string): string {
  const near = relative('.', path)
  return near.startsWith('..') || near === '' ? path : near
}
