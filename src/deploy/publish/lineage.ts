import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCheckpointManifest } from '../../engine/index.ts'
import { ownModel } from '../../settings/index.ts'

/** The model that training started from, as far as it is known. */
export interface BaseModel {
  /** As the settings name it. */
  name: string
  /** Its id on the Hub. */
  id?: string
  license?: string
}

/** What is known about the base model that a run's settings name. */
export function baseModel(name: string): BaseModel {
  if (ownModel(name) !== undefined) return { name, license: 'apache-2.0' }
  if (!existsSync(join(name, 'config.json'))) return { name: name.split(/[\\/]/).at(-1)! }
  const { source, license } = readCheckpointManifest(name)?.metadata ?? {}
  return {
    name: typeof source === 'string' ? source : name.split(/[\\/]/).at(-1)!,
    ...(typeof source === 'string' && /^[\w.-]+\/[\w.-]+$/.test(source) ? { id: source } : {}),
    ...(typeof license === 'string' ? { license } : {}),
  }
}

/** Full texts of licenses are added only if the base model's folder has one. */
export function licenseText(name: string): string | undefined {
  const file = join(ownModel(name) ?? name, 'LICENSE')
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}
