import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  ADAPTER_CONFIG,
  ADAPTER_WEIGHTS,
  adapterOf,
  EngineError,
  readPeftAdapter,
} from '../checkpoint/index.ts'

export interface PeftReport {
  folder: string
  rank: number
  alpha: number
  /** Number of projections with an adapter. */
  projections: number
}

/**
 * Copies the adapter of a checkpoint that was trained with LoRA, without tokenizer and optimizer state: what PEFT and vLLM load.
 *
 * @example
 * import { exportPeft } from 'chain-of-agents/engine'
 *
 * console.log(exportPeft('runs/my-run/checkpoints/sft', 'adapter'))
 */
export function exportPeft(checkpoint: string, out: string): PeftReport {
  if (existsSync(out) && readdirSync(out).length > 0) {
    throw new EngineError(`${out} already exists`, {
      fix: 'Choose another folder, or delete this one first.',
    })
  }
  const adapter = adapterOf(checkpoint)
  if (adapter === undefined) {
    throw new EngineError(`${checkpoint} is a full model, not an adapter`, {
      fix: 'Pass a checkpoint that was trained with LoRA (student.lora_rank).',
    })
  }
  const { folder, rank, alpha } = adapter
  const projections = readPeftAdapter(folder).size
  mkdirSync(out, { recursive: true })
  for (const name of [ADAPTER_CONFIG, ADAPTER_WEIGHTS]) copyFileSync(join(folder, name), join(out, name))
  return { folder: resolve(out), rank, alpha, projections }
}
