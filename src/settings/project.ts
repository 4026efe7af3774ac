import { existsSync } from 'node:fs'
import { z } from 'zod'
import { ConfigError } from '../base/errors/index.ts'
import { readEnvironment } from './environment.ts'
import { type ResolvedConfig, resolveConfig, type Sections, type SettingsFile } from './resolve.ts'
import { localFolder } from './text-settings.ts'

export const ProjectSection = z
  .strictObject({
    /** Folder that holds the run folders. */
    runs: localFolder().default('runs'),
    /** The random seed of everything. */
    seed: z.number().int().nonnegative().default(1),
  })
  .prefault({})
export type ProjectSection = z.infer<typeof ProjectSection>

/** The default settings file, in the current folder. */
const CONFIG_FILE = 'coa.toml'

export interface ProjectOptions {
  file?: SettingsFile | undefined
  flags?: Record<string, unknown>
  /** Files with lower and with higher precedence than the project's own. */
  under?: readonly SettingsFile[]
  over?: readonly SettingsFile[]
}

/** The effective settings: coa.toml (or the named file), then COA_… variables, then flags by dotted key. */
export function resolveProject<S extends Sections>(
  schema: S,
  options: ProjectOptions,
): ResolvedConfig<z.infer<S>> {
  if (typeof options.file === 'string' && !existsSync(options.file)) {
    throw new ConfigError(`there is no file ${options.file}`, {
      fix: 'Name an existing file with --config, or run `coa init`.',
    })
  }
  const file = options.file ?? (existsSync(CONFIG_FILE) ? CONFIG_FILE : undefined)
  const files = [...(options.under ?? []), ...(file === undefined ? [] : [file]), ...(options.over ?? [])]
  const environment = readEnvironment()
  return resolveConfig(schema, { files, environment, flags: options.flags ?? {} })
}
