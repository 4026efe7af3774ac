import { join } from 'node:path'
import { isModelFolder } from '../../engine/index.ts'
import type { Run } from '../../store/index.ts'
import type { RlConfig } from './config.ts'

/** The model to begin with: the one named, or what SFT made in this run, or else the student. */
export function startOf(run: Run, config: RlConfig): string {
  if (config.rl.model !== '') return config.rl.model
  const trained = join(run.files.checkpoints, 'sft')
  return isModelFolder(trained) ? trained : config.student.model
}
