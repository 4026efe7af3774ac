import type { Command } from 'commander'
import { UsageError } from '../base/errors/index.ts'
import { type ProjectConfig, projectConfig } from '../pipeline/settings.ts'
import type { ProjectOptions, ResolvedConfig } from '../settings/index.ts'
import { repeatable } from './repeatable.ts'

/** Options of every command. */
export interface GlobalOptions {
  json?: boolean
  debug?: boolean
  config?: string
  set?: string[]
}

export function addGlobalOptions(program: Command): void {
  program
    .option('--json', 'print the result as JSON')
    .option('--config <file>', 'settings file (default: coa.toml in the current folder, if it exists)')
    .option('--set <key=value>', 'override a setting, such as project.runs=out; repeatable', repeatable)
    .option('--debug', 'show the stack trace of an error')
}

/** The settings for a command; `flags` are the command's own options, by dotted key. */
export function settings(
  options: GlobalOptions,
  flags: Record<string, unknown> = {},
  recipes: Pick<ProjectOptions, 'under' | 'over'> = {},
): ResolvedConfig<ProjectConfig> {
  const pairs = (options.set ?? []).map((pair) => {
    const at = pair.indexOf('=')
    if (at < 1) throw new UsageError(`--set ${pair} has no value`, { fix: 'Write --set section.name=value.' })
    return [pair.slice(0, at), pair.slice(at + 1)] as const
  })
  // An option that was not given must not override a --set of the same key.
  const given = Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined))
  return projectConfig({
    ...recipes,
    file: options.config,
    flags: { ...Object.fromEntries(pairs), ...given },
  })
}
