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
    /** Everything random starts from here. */
    seed: z.number().int().nonnegative().default(1),
  })
  .prefault({})
export type ProjectSection = z.infer<typeof ProjectSection>

/** The file looked for in the current folder where none is named. */
const CONFIG_FILE = 'coa.toml'

export interface ProjectOptions {
  file?: SettingsFile | undefined
  flags?: Record<string, unknown>
  /** Files that the project's own wins over, and one that wins over it. */
  under?: readonly SettingsFile[]
  over?: readonly SettingsFile[]
}

/** The settings in force: coa.toml (or the named file), COA_… variables, then flags by dotted key. */
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
