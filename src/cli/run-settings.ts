import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError } from '../base/errors/index.ts'
import { type ProjectConfig, settingsFromRun } from '../pipeline/settings.ts'
import { readSettingsFile, runFiles } from '../store/index.ts'
import { findRun, type RunKind } from './find-run.ts'
import { type GlobalOptions, settings } from './globals.ts'

interface RunSettings<Dir> {
  dir: Dir
  config: ProjectConfig
}

type Section = keyof ProjectConfig

export interface RunSettingsOptions {
  /** The command's own options by dotted key. */
  flags?: Record<string, unknown>
  /** What a run must have to be "latest". */
  kind?: RunKind
  /** The sections that the command uses: settings that a run may not provide matter only there. */
  uses: (config: ProjectConfig, dir: string) => readonly Section[]
}

/**
 * The folder of a run, and the settings for working on it. The run's original settings apply unless the project's file,
 * an environment variable or an option overrides them, so that a stage does the same whether it is run alone or as part
 * of the pipeline. Only numbers and names are taken from a run; see `settingsFromRun`.
 */
export function settingsForRun(
  options: GlobalOptions,
  name: string,
  command: RunSettingsOptions,
): RunSettings<string>
export function settingsForRun(
  options: GlobalOptions,
  name: string | undefined,
  command: RunSettingsOptions,
): RunSettings<string | undefined>
export function settingsForRun(
  options: GlobalOptions,
  name: string | undefined,
  command: RunSettingsOptions,
): RunSettings<string | undefined> {
  const { config } = settings(options, command.flags)
  if (name === undefined) return { dir: undefined, config }
  const dir = findRun(config.project.runs, name, command.kind)
  const file = runFiles(dir).config
  return { dir, config: existsSync(file) ? withSettingsOf(file, 'under', options, command) : config }
}

/** The settings combined with those that a file in a run folder may provide, below or above the user's own. */
export function withSettingsOf(
  file: string,
  place: 'under' | 'over',
  options: GlobalOptions,
  { flags, uses }: RunSettingsOptions,
): ProjectConfig {
  // Throws if the file is damaged.
  readSettingsFile(file)
  const { taken, withheld } = settingsFromRun(file, settings(options, flags))
  const { config } = settings(options, flags, { [place]: [{ file, values: taken }] })
  const sections: ReadonlySet<string> = new Set(uses(config, dirname(file)))
  const missing = withheld.filter(({ key }) => sections.has(key.split('.')[0]!))
  const shown = missing.map(({ key, value }) => `${key} = ${shorten(JSON.stringify(value))}`).join(', ')
  const repeat = missing
    .map(({ key, value }) => (typeof value === 'string' ? `--set ${key}=${shorten(value)}` : key))
    .join(' ')
  const reason = `${file} sets ${shown}, but code, files, URLs, hosts and keys are never taken from a run`
  if (missing.some(({ decides }) => decides)) {
    throw new ConfigError(reason, {
      fix: `If you trust it, repeat it in coa.toml or as an option: ${repeat}.`,
    })
  }
  if (missing.length > 0)
    process.stderr.write(`${reason}; to use them, repeat them in coa.toml or as options: ${repeat}\n`)
  return config
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 99)}…` : text
}
