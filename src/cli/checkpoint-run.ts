import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { UsageError } from '../base/errors/index.ts'
import type { Grammar } from '../language/grammar/index.ts'
import type { ProjectConfig } from '../pipeline/settings.ts'
import { openRun } from '../store/index.ts'

/** The run folder that a checkpoint is in. */
export function runOfCheckpoint(model: string): string | undefined {
  const checkpoints = dirname(resolve(model))
  const folder = dirname(checkpoints)
  return basename(checkpoints) === 'checkpoints' && existsSync(join(folder, 'manifest.json'))
    ? folder
    : undefined
}

/** A grammar as the stages of a run use it, with the tools that were added to it: a named one, or that of the run's tasks. */
export async function grammarOfCheckpoint(
  named: string | undefined,
  config: ProjectConfig,
  runFolder: string | undefined,
): Promise<Grammar> {
  const { projectGrammar } = await import('../language/grammar/index.ts')
  const { openWorld } = await import('../agent/index.ts')
  const { grammarOfRun } = await import('../deploy/index.ts')
  if (named === undefined && runFolder === undefined && config.language.grammar === undefined) {
    throw new UsageError('the checkpoint belongs to no run, so its grammar is unknown', {
      fix: 'Name it: --grammar NAME. `coa grammar list` shows the built-in ones.',
    })
  }
  using run = runFolder === undefined ? undefined : openRun(runFolder)
  const language = named === undefined ? config.language : { ...config.language, grammar: named }
  const domain =
    named === undefined && run !== undefined ? grammarOfRun(run) : (await projectGrammar(language)).name
  const world = await openWorld({ ...config, language }, run)
  try {
    return await world.grammarOf({ domain })
  } finally {
    await world.close()
  }
}
