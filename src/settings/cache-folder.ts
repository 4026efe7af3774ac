import { homedir } from 'node:os'
import { join } from 'node:path'
import { readEnvironment } from './environment.ts'

/** The user's cache folder. */
export function cacheFolder(): string {
  const { XDG_CACHE_HOME: named, LOCALAPPDATA: windows } = readEnvironment()
  if (named !== undefined && named !== '') return join(named, 'coa')
  if (process.platform === 'win32' && windows !== undefined) return join(windows, 'coa', 'cache')
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'coa')
  return join(homedir(), '.cache', 'coa')
}
