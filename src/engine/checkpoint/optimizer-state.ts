import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { EngineError } from './engine-error.ts'
import { PEFT_PREFIX } from './peft-adapter.ts'
import { readTensors } from './safetensors-read.ts'
import { writeTensors } from './safetensors-write.ts'
import type { StoredTensors } from './stored-tensor.ts'
import { verifyIfSavedByCoa } from './verify-files.ts'

export const OPTIMIZER_FILE = 'optimizer.safetensors'

/** Optimizer state needed to resume training, such as moments; the engine chooses the tensor names. */
export interface OptimizerState {
  step: number
  tensors: StoredTensors
  /** Further settings as strings, such as the optimizer's name. */
  metadata: Record<string, string>
}

export function writeOptimizerState(folder: string, state: OptimizerState): void {
  const { step, tensors, metadata } = state
  writeTensors(join(folder, OPTIMIZER_FILE), tensors, { metadata: { ...metadata, step: String(step) } })
}

/** The state saved with a checkpoint; undefined if there is none. */
export function readOptimizerState(folder: string): OptimizerState | undefined {
  const path = join(folder, OPTIMIZER_FILE)
  if (!existsSync(path)) return undefined
  verifyIfSavedByCoa(folder, (name) => name === OPTIMIZER_FILE)
  const { tensors, metadata } = readTensors(path)
  const { step: digits = '', format: _, ...others } = metadata
  if (!/^\d{1,15}$/.test(digits)) {
    throw new EngineError(`${path} has no step in its metadata`, {
      fix: 'Delete the file to start with a new optimizer, or restore it from a backup.',
      details: { path },
    })
  }
  // The trainer uses PEFT's names for an adapter's moments.
  const named = [...tensors].map(([name, tensor]) => [name.replace(` ${PEFT_PREFIX}`, ' '), tensor] as const)
  return { step: Number(digits), tensors: new Map(named), metadata: others }
}
