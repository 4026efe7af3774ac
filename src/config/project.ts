import { existsSync } from 'node:fs'
import { ConfigError } from '../errors/index.ts'
import { readEnvironment } from './environment.ts'
import { type ResolvedConfig, resolveConfig } from './resolve.ts'
import { ProjectConfig } from './schema.ts'

/** The file looked for in the current folder where none is named. */
const CONFIG_FILE = 'coa.toml'

/** The settings in force: coa.toml (or the named file), COA_… variables, then flags by dotted key. */
export function projectConfig(options: {
  file?: string | undefined
  flags?: Record<string, unknown>
}): ResolvedConfig<ProjectConfig> {
  if (options.file !== undefined && !existsSync(options.file)) {
    throw new ConfigError(`there is no file ${options.file}`, {
      fix: 'Name an existing file with --config, or run `coa init`.',
    })
  }
  const file = options.file ?? (existsSync(CONFIG_FILE) ? CONFIG_FILE : undefined)
  return resolveConfig(ProjectConfig, { file, environment: readEnvironment(), flags: options.flags ?? {} })
}
