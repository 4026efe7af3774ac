import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { writeFileAtomic } from '../../base/files/index.ts'
import {
  ADAPTER_CONFIG,
  ADAPTER_WEIGHTS,
  type AdapterCheckpoint,
  adapterOf,
  EngineError,
  openCheckpoint,
  PEFT_PREFIX,
  readOptimizerState,
  readPeftAdapter,
  type StoredTensors,
} from '../checkpoint/index.ts'
import { eachRow } from '../checkpoint/low-rank.ts'
import { writeTensors } from '../checkpoint/safetensors-write.ts'
import { json } from '../checkpoint/shards-write.ts'
import { isSameFolder } from './inherited.ts'

export interface PeftReport {
  folder: string
  rank: number
  alpha: number
  /** Number of projections with an adapter. */
  projections: number
}

const PREFIX = 'adapter '

/**
 * Writes a checkpoint's adapter as a PEFT folder. The trainer's checkpoints already are adapters and name their base. The embedded
 * engine saves merged weights and keeps the adapter next to its optimizer state, so the base must be given; the scale, and whether
 * this is the right base at all, follow from the difference between the merged weights and the base.
 *
 * @example
 * import { exportPeft } from 'chain-of-agents/engine'
 *
 * console.log(exportPeft('runs/my-run/checkpoints/sft', 'adapter', 'models/base'))
 */
export function exportPeft(checkpoint: string, out: string, base?: string): PeftReport {
  if (existsSync(out) && readdirSync(out).length > 0) {
    throw new EngineError(`${out} already exists`, {
      fix: 'Choose another folder, or delete this one first.',
    })
  }
  const adapter = adapterOf(checkpoint)
  if (adapter !== undefined) return copyAdapter(adapter, out, base)
  if (base === undefined) {
    throw new EngineError(`${checkpoint} has merged weights, so its base model is unknown`, {
      fix: 'Pass the model that the adapters were trained on: --base FOLDER.',
    })
  }
  const { folder, weights: merged } = openCheckpoint(checkpoint)
  const adapters = adaptersOf(folder, readOptimizerState(folder)?.tensors)
  const projections = [...adapters.keys()]
    .filter((name) => name.endsWith('.lora_A.weight'))
    .map((name) => name.replace('.lora_A.weight', ''))
  const rank = adapters.get(`${projections[0]}.lora_A.weight`)!.shape[0]!
  const scale = scaleBetween(openCheckpoint(base).weights, merged, adapters, projections, base)
  const alpha = Number((scale * rank).toPrecision(5))
  mkdirSync(out, { recursive: true })
  writeTensors(
    join(out, ADAPTER_WEIGHTS),
    new Map([...adapters].map(([name, tensor]) => [`${PEFT_PREFIX}${name}`, tensor])),
  )
  writeFileAtomic(
    join(out, ADAPTER_CONFIG),
    json({
      peft_type: 'LORA',
      task_type: 'CAUSAL_LM',
      base_model_name_or_path: resolve(base),
      r: rank,
      lora_alpha: alpha,
      lora_dropout: 0,
      use_rslora: false,
      use_dora: false,
      bias: 'none',
      fan_in_fan_out: false,
      inference_mode: true,
      target_modules: [...new Set(projections.map((name) => name.split('.').at(-1)!))].sort(),
    }),
  )
  return { folder: resolve(out), rank, alpha, projections: projections.length }
}

function copyAdapter(
  { folder, base, rank, alpha }: AdapterCheckpoint,
  out: string,
  named: string | undefined,
): PeftReport {
  if (named !== undefined && !isSameFolder(named, base)) throw anotherBase(named)
  const projections = readPeftAdapter(folder).size
  mkdirSync(out, { recursive: true })
  for (const name of [ADAPTER_CONFIG, ADAPTER_WEIGHTS]) copyFileSync(join(folder, name), join(out, name))
  return { folder: resolve(out), rank, alpha, projections }
}

function adaptersOf(folder: string, state: StoredTensors | undefined): StoredTensors {
  const found = [...(state ?? [])].filter(([name]) => name.startsWith(PREFIX))
  if (found.length > 0) return new Map(found.map(([name, tensor]) => [name.slice(PREFIX.length), tensor]))
  throw new EngineError(
    `${folder} has no adapters: it was not trained with LoRA, or was saved without optimizer state`,
    {
      fix: 'Pass a checkpoint saved during LoRA training.',
    },
  )
}

/** The scale s with merged = base + s · up·down, by least squares over all projections. */
function scaleBetween(
  base: StoredTensors,
  merged: StoredTensors,
  adapters: StoredTensors,
  projections: readonly string[],
  path: string,
): number {
  let [along, length, moved] = [0, 0, 0]
  for (const projection of projections) {
    const [before, after] = [base, merged].map((weights) => weights.get(`${projection}.weight`)?.values)
    const [down, up] = ['A', 'B'].map((which) => adapters.get(`${projection}.lora_${which}.weight`)!)
    if (before === undefined || before.length !== after?.length) throw anotherBase(path)
    eachRow(down!, up!, (row, change) => {
      for (const [column, value] of change.entries()) {
        const difference = after[row * change.length + column]! - before[row * change.length + column]!
        along += value * difference
        length += value * value
        moved += difference * difference
      }
    })
  }
  if (length === 0) {
    throw new EngineError('the adapters are untrained, so their scale cannot be computed', {
      fix: 'Export a checkpoint after the first training step.',
    })
  }
  const scale = along / length
  // The residual is either rounding or a different base model.
  const unexplained = Math.sqrt(Math.max(0, moved - scale * along) / moved)
  if (!(scale > 0 && unexplained < 0.01)) throw anotherBase(path)
  return scale
}

function anotherBase(path: string): EngineError {
  return new EngineError(`the checkpoint is not ${path} with adapters merged`, {
    fix: 'Pass the model that the adapters were trained on.',
  })
}
