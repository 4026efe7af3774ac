import { existsSync } from 'node:fs'
import { ConfigError } from '../base/errors/index.ts'
import { readEnvironment } from './environment.ts'
import { type ResolvedConfig, resolveConfig, type SettingsFile } from './resolve.ts'
import { ProjectConfig } from './schema.ts'

/** The file looked for in the current folder where none is named. */
const CONFIG_FILE = 'coa.toml'

export interface ProjectOptions {
  file?: string | undefined
  flags?: Record<string, unknown>
  /** Files that the project's own wins over, and one that wins over it. */
  under?: readonly SettingsFile[]
  over?: readonly SettingsFile[]
}

/**
 * The effective settings: coa.toml (or the named file), then `COA_…` environment variables, then flags by dotted key.
 *
 * @example
 * import { projectConfig } from 'chain-of-agents'
 *
 * const { config, origins } = projectConfig({ file: 'coa.toml', flags: { 'rl.steps': 20 } })
 * console.log(config.rl.steps, origins['rl.steps'])
 */
export function projectConfig(options: ProjectOptions): ResolvedConfig<ProjectConfig> {
  if (options.file !== undefined && !existsSync(options.file)) {
    throw new ConfigError(`there is no file ${options.file}`, {
      fix: 'Name an existing file with --config, or run `coa init`.',
    })
  }
  const file = options.file ?? (existsSync(CONFIG_FILE) ? CONFIG_FILE : undefined)
  const files = [...(options.under ?? []), ...(file === undefined ? [] : [file]), ...(options.over ?? [])]
  const environment = readEnvironment()
  const { config, origins } = resolveConfig(ProjectConfig, { files, environment, flags: options.flags ?? {} })
  return { config: withTokenizer(config), origins }
}

/** "student" is the tokenizer of whatever model the student is. */
function withTokenizer(config: ProjectConfig): ProjectConfig {
  const { language, student } = config
  return language.tokenizer === 'student'
    ? { ...config, language: { ...language, tokenizer: student.model } }
    : config
}
