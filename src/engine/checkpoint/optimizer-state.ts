import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { EngineError } from './engine-error.ts'
import { PEFT_PREFIX } from './peft-adapter.ts'
import { readTensors } from './safetensors-read.ts'
import { writeTensors } from './safetensors-write.ts'
import type { StoredTensors } from './stored-tensor.ts'
import { verifyIfSavedByCoa } from './verify-files.ts'

export const OPTIMIZER_FILE = 'optimizer.safetensors'

/**
 * Optimizer state needed to resume training: `first NAME` and `second NAME`, the moments of a parameter, and `master NAME`, its
 * float32 value, if the weights are stored in a narrower type.
 */
export interface OptimizerState {
  step: number
  tensors: StoredTensors
  /** Further settings as strings, such as the optimizer's name. */
  metadata: Record<string, string>
}

/** The weights to resume with: those that were rounded when they were stored, as they were before. */
export function withMasterWeights(weights: StoredTensors, state: OptimizerState | undefined): StoredTensors {
  const exact = new Map(weights)
  for (const [name, { shape }] of weights) {
    const master = state?.tensors.get(`master ${name}`)
    if (String(master?.shape) === String(shape)) exact.set(name, master!)
  }
  return exact
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
  // The moments of an adapter have PEFT's names.
  const named = [...tensors].map(([name, tensor]) => [name.replace(` ${PEFT_PREFIX}`, ' '), tensor] as const)
  return { step: Number(digits), tensors: new Map(named), metadata: others }
}
