import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { digestOf } from '../../base/digests/index.ts'
import type { ProjectConfig } from '../../pipeline/settings.ts'
import { mergeEvaluations } from '../../stages/eval/index.ts'
import { checkPathName, createRun, openRun } from '../../store/index.ts'
import { findRun } from '../find-run.ts'
import { version } from '../version.ts'
import type { EvalResult } from './eval-run.ts'

/** `coa eval --merge`: one report from several runs. */
export function mergeRuns(
  config: ProjectConfig,
  names: readonly string[],
  into: string | undefined,
): EvalResult {
  const started = performance.now()
  const { runs } = config.project
  const id = checkPathName(into ?? `eval-${digestOf('merge', names).slice(0, 8)}`, 'a run')
  const head = { command: 'coa eval --merge', coa: version }
  using run = existsSync(join(runs, id, 'manifest.json'))
    ? openRun(join(runs, id), { write: true, command: head.command })
    : createRun(runs, { ...head, id })
  const parts = names.map((name) => findRun(runs, name))
  const made = mergeEvaluations(config, run, parts)
  return { run: run.id, dir: run.dir, ...made, seconds: (performance.now() - started) / 1000 }
}
