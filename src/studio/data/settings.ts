import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { withoutSecrets } from '../../base/errors/index.ts'
import { flatten, readToml } from '../../settings/index.ts'
import { readSettingsFile } from '../../store/index.ts'
import type { SettingsView } from '../api.ts'
import { missing } from './records.ts'
import { isOwn } from './run-folder.ts'

/** The settings that a run, or one of its stages, was started with, beside the defaults. */
export function settingsOf(
  dir: string,
  stage: string | undefined,
  defaults: Readonly<Record<string, unknown>>,
): SettingsView {
  const stages = readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[a-z-]+\.toml$/.test(entry.name) && entry.name !== 'config.toml')
    .map(({ name }) => name.slice(0, -'.toml'.length))
  if (stage !== undefined && !stages.includes(stage)) throw missing('stage', stage)
  const file = join(dir, `${stage ?? 'config'}.toml`)
  if (!isOwn(file, 'file')) return { stages, settings: [], toml: '' }
  const values = new Map(flatten(readToml(file), file))
  const keys = [...new Set([...Object.keys(defaults), ...values.keys()])]
  return {
    stages,
    settings: keys.map((key) => {
      const [value, standard] = [values.get(key), defaults[key]]
      const isSet = values.has(key)
      return {
        key,
        value: isSet ? value : standard,
        standard,
        differs: isSet && JSON.stringify(value) !== JSON.stringify(standard),
      }
    }),
    toml: withoutSecrets(readSettingsFile(file)),
  }
}
