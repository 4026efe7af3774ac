import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of a model that comes with coa; undefined where none has this name. */
export function ownModel(name: string): string | undefined {
  if (!/^[a-z0-9-]+$/.test(name)) return undefined
  const folder = ownPath(`models/${name}`)
  return existsSync(join(folder, 'config.json')) ? folder : undefined
}

/** A file of settings that comes with coa. */
export function recipeFile(name: 'quickstart' | 'quickstart-fast'): string {
  return ownPath(`recipes/${name}.toml`)
}

/** The sources and what is built of them lie equally deep. */
function ownPath(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url))
}
