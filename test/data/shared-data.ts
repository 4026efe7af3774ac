import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/**
 * Real data sets are not part of this repository. `COA_TEST_DATA` names the folder that contains them; without it the
 * tests that need them are skipped with a warning.
 */
const folder = process.env['COA_TEST_DATA']

export function dataFile(path: string): string | null {
  const file = folder === undefined ? null : join(folder, path)
  if (file !== null && existsSync(file)) return file
  console.warn(`SKIPPED: ${path} was not found; set COA_TEST_DATA to the folder that contains it`)
  return null
}

export function readJsonLines<T>(file: string): T[] {
  const bytes = readFileSync(file)
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T)
}
