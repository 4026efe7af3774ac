import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { EngineError } from './engine-error.ts'
import { PEFT_PREFIX } from './peft-adapter.ts'
import { readTensors } from './safetensors-read.ts'
import { writeTensors } from './safetensors-write.ts'
import type { StoredTensors } from './stored-tensor.ts'
import { verifyWhereSaved } from './verify-files.ts'

export const OPTIMIZER_FILE = 'optimizer.safetensors'

/** What an optimiser must remember to go on where it was, such as its moments, named by the engine. */
export interface OptimizerState {
  step: number
  tensors: StoredTensors
  /** Further settings as texts, such as the name of the optimiser. */
  metadata: Record<string, string>
}

export function writeOptimizerState(folder: string, state: OptimizerState): void {
  const { step, tensors, metadata } = state
  writeTensors(join(folder, OPTIMIZER_FILE), tensors, { metadata: { ...metadata, step: String(step) } })
}

/** The state saved with a checkpoint; undefined when none was. */
export function readOptimizerState(folder: string): OptimizerState | undefined {
  const path = join(folder, OPTIMIZER_FILE)
  if (!existsSync(path)) return undefined
  verifyWhereSaved(folder, (name) => name === OPTIMIZER_FILE)
  const { tensors, metadata } = readTensors(path)
  const { step: digits = '', format: _, ...others } = metadata
  if (!/^\d{1,15}$/.test(digits)) {
    throw new EngineError(`${path} does not say after which step it was written`, {
      fix: 'Remove the file to begin with a fresh optimiser, or restore it from a copy.',
      details: { path },
    })
  }
  // The trainer names an adapter's moments as PEFT names the adapter.
  const named = [...tensors].map(([name, tensor]) => [name.replace(` ${PEFT_PREFIX}`, ' '), tensor] as const)
  return { step: Number(digits), tensors: new Map(named), metadata: others }
}
