import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { StoreError } from '../base/errors/index.ts'
import { ensureFolder, moveIntoPlace, removeLeftovers, temporaryPath } from '../base/files/index.ts'
import { writeManifest } from './manifest-file.ts'
import { openRun } from './open-run.ts'
import { checkPathName } from './path-name.ts'
import type { Run } from './run.ts'
import { runFiles } from './run-files.ts'
import { newRunId } from './run-id.ts'
import type { Durability } from './run-writer.ts'
import { writeSettingsFile } from './settings-file.ts'

export interface CreateRunOptions {
  /** Default: the time and four random characters. */
  id?: string
  /** The command that created the run, such as `coa quickstart --fast`. */
  command: string
  /** Version of coa. */
  coa: string
  /** The resolved configuration, saved as config.toml. */
  configToml?: string
  durability?: Durability
}

/**
 * Creates a run folder, complete or not at all, and opens it for writing.
 *
 * @example
 * import { createRun } from 'chain-of-agents'
 *
 * using run = createRun('runs', { command: 'my program', coa: '0.1.0' })
 * run.append('task', {
 *   v: 1, id: 'sum', suite: 'mine', domain: 'math',
 *   question: 'What is 17 + 4?', gold: { checker: 'math', answer: '21' },
 * })
 */
export function createRun(runsDir: string, options: CreateRunOptions): Run {
  const id = checkPathName(options.id ?? newRunId(), 'a run')
  const dir = join(resolve(runsDir), id)
  ensureFolder(runsDir)
  removeLeftovers(resolve(runsDir))
  if (existsSync(dir)) throw existsError(dir)

  const temporary = temporaryPath(dir)
  const files = runFiles(temporary)
  try {
    mkdirSync(files.checkpoints, { recursive: true })
    mkdirSync(files.eval)
    for (const empty of [files.events, files.metrics, files.log]) writeFileSync(empty, '')
    if (options.configToml !== undefined) writeSettingsFile(files.config, options.configToml)
    writeManifest(files.manifest, {
      v: 1,
      id,
      createdAt: new Date().toISOString(),
      coa: options.coa,
      command: options.command,
      stages: {},
    })
    moveIntoPlace(temporary, dir)
  } catch (cause) {
    rmSync(temporary, { recursive: true, force: true })
    if (existsSync(dir)) throw existsError(dir)
    throw new StoreError(`cannot create the run folder ${dir}: ${(cause as Error).message}`, {
      fix: 'Check the free space and the permissions of the folder.',
      cause,
    })
  }
  const { command, durability = 'process' } = options
  return openRun(dir, { write: true, command, durability })
}

function existsError(dir: string): StoreError {
  return new StoreError(`a run already exists at ${dir}`, {
    fix: 'Choose another id, or open the existing run to resume it.',
    details: { dir },
  })
}
