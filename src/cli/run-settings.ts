import { existsSync } from 'node:fs'
import type { ProjectConfig } from '../config/index.ts'
import { runFiles } from '../store/index.ts'
import { findRun, type RunKind } from './find-run.ts'
import { type GlobalOptions, settings } from './globals.ts'

interface RunSettings<Dir> {
  dir: Dir
  config: ProjectConfig
}

/**
 * The folder of a run, and the settings for working on it. Those the run began with hold wherever the project's file,
 * a variable or an option does not say otherwise: a stage started by itself does what it does as a part of the whole.
 */
export function settingsForRun(
  options: GlobalOptions,
  name: string,
  flags?: Record<string, unknown>,
  kind?: RunKind,
): RunSettings<string>
export function settingsForRun(
  options: GlobalOptions,
  name: string | undefined,
  flags?: Record<string, unknown>,
  kind?: RunKind,
): RunSettings<string | undefined>
export function settingsForRun(
  options: GlobalOptions,
  name: string | undefined,
  flags: Record<string, unknown> = {},
  kind: RunKind = 'any',
): RunSettings<string | undefined> {
  const { config } = settings(options, flags)
  if (name === undefined) return { dir: undefined, config }
  const dir = findRun(config.project.runs, name, kind)
  const own = runFiles(dir).config
  return { dir, config: existsSync(own) ? settings(options, flags, { under: [own] }).config : config }
}
