import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of a bundled model; undefined if there is none by this name. */
export function ownModel(name: string): string | undefined {
  if (!/^[a-z0-9-]+$/.test(name)) return undefined
  const folder = ownPath(`models/${name}`)
  return existsSync(join(folder, 'config.json')) ? folder : undefined
}

/** A bundled settings file. */
export function recipeFile(name: 'quickstart' | 'quickstart-fast'): string {
  return ownPath(`recipes/${name}.toml`)
}

/** The folder of the studio's page, once it has been built. */
export function studioPage(): string {
  return ownPath('dist/studio/page')
}

/** What starts coa. */
export function launcherFile(): string {
  return ownPath('bin/coa.js')
}

/** A folder of the clients and pages that deployed models come with. */
export function deployFolder(part: string): string {
  return ownPath(`deploy/${part}`)
}

/** Source and build output are at the same depth. */
function ownPath(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url))
}
