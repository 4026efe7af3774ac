import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { EngineError, listed } from './engine-error.ts'
import { readJsonFile } from './read-bytes.ts'
import { readTensors } from './safetensors-read.ts'
import type { StoredTensor } from './stored-tensor.ts'

export const ADAPTER_CONFIG = 'adapter_config.json'
export const ADAPTER_WEIGHTS = 'adapter_model.safetensors'
/** Added by PEFT's two wrappers around the model. */
export const PEFT_PREFIX = 'base_model.model.'

/** The update of one projection: scale · up·down. */
export interface Adapter {
  scale: number
  /** [rank, in] */
  down: StoredTensor
  /** [out, rank] */
  up: StoredTensor
}

const numbers = z.record(z.string(), z.number().positive()).nullish()
const Config = z.looseObject({
  peft_type: z.string(),
  r: z.number().int().positive(),
  lora_alpha: z.number().positive(),
  use_rslora: z.boolean().nullish(),
  use_dora: z.boolean().nullish(),
  fan_in_fan_out: z.boolean().nullish(),
  lora_bias: z.boolean().nullish(),
  alpha_pattern: numbers,
  modules_to_save: z.array(z.string()).nullish(),
  base_model_name_or_path: z.string().nullish(),
})
export type PeftConfig = z.infer<typeof Config>

/** Adapters in a folder written by PEFT, by projection name, such as model.layers.0.self_attn.q_proj. */
export function readPeftAdapter(folder: string): Map<string, Adapter> {
  const config = readPeftConfig(folder)
  const { tensors } = readTensors(join(folder, ADAPTER_WEIGHTS))
  const adapters = new Map<string, Adapter>()
  const others: string[] = []
  for (const [name, down] of tensors) {
    const projection = /^base_model\.model\.(.+)\.lora_A\.(?:default\.)?weight$/.exec(name)?.[1]
    const up = tensors.get(name.replace('.lora_A.', '.lora_B.'))
    if (projection === undefined || up === undefined) {
      if (!/\.lora_B\.(default\.)?weight$/.test(name) || !tensors.has(name.replace('.lora_B.', '.lora_A.'))) {
        others.push(name)
      }
      continue
    }
    const rank = down.shape[0]!
    if (down.shape.length !== 2 || up.shape.length !== 2 || up.shape[1] !== rank) {
      throw new EngineError(
        `the adapter of ${projection} multiplies [${up.shape}] by [${down.shape}], which do not match`,
        {
          fix: 'Save the adapter again.',
        },
      )
    }
    const alpha = alphaOf(projection, config)
    adapters.set(projection, {
      scale: config.use_rslora === true ? alpha / Math.sqrt(rank) : alpha / rank,
      down,
      up,
    })
  }
  if (others.length > 0 || adapters.size === 0) {
    throw new EngineError(
      others.length === 0
        ? `${join(folder, ADAPTER_WEIGHTS)} contains no adapters`
        : `the adapter also contains ${listed(others)}, which are not low-rank updates of a projection`,
      { fix: 'Merge it with PEFT itself: `PeftModel.from_pretrained(base, adapter).merge_and_unload()`.' },
    )
  }
  return adapters
}

export function readPeftConfig(folder: string): PeftConfig {
  const path = join(folder, ADAPTER_CONFIG)
  if (!existsSync(path)) {
    throw new EngineError(`${folder} has no ${ADAPTER_CONFIG}`, {
      fix: existsSync(join(folder, 'config.json'))
        ? 'It is a full model, so no merging is needed.'
        : `Pass the folder of a PEFT adapter, with ${ADAPTER_CONFIG} and ${ADAPTER_WEIGHTS}.`,
    })
  }
  const parsed = Config.safeParse(readJsonFile(path))
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw new EngineError(`${path} is invalid: ${issue?.path.join('.')}: ${issue?.message}`, {
      fix: 'Pass the folder of a LoRA adapter saved by PEFT.',
    })
  }
  const config = parsed.data
  const unknown =
    config.peft_type !== 'LORA'
      ? `has the type ${config.peft_type}`
      : config.use_dora === true
        ? 'uses DoRA, which also scales whole columns'
        : config.fan_in_fan_out === true
          ? 'is for layers with transposed weights (fan_in_fan_out)'
          : config.lora_bias === true
            ? 'modifies biases too'
            : (config.modules_to_save ?? []).length > 0
              ? `replaces whole modules (${config.modules_to_save?.join(', ')})`
              : Object.keys(config.alpha_pattern ?? {}).some((pattern) => !isModuleName(pattern))
                ? 'uses regular expressions in alpha_pattern'
                : undefined
  if (unknown === undefined) return config
  throw new EngineError(`the adapter ${unknown}; only plain LoRA can be merged here`, {
    fix: 'Merge it with PEFT itself: `PeftModel.from_pretrained(base, adapter).merge_and_unload()`.',
  })
}

/** Only literal names: an arbitrary regular expression from the file could run forever. */
function isModuleName(pattern: string): boolean {
  return /^\^?(?:[\w-]|\\?\.){1,200}$/.test(pattern)
}

/** PEFT matches a pattern against the end of a module's name. */
function alphaOf(projection: string, { lora_alpha: alpha, alpha_pattern: patterns }: PeftConfig): number {
  for (const [pattern, own] of Object.entries(patterns ?? {})) {
    if (new RegExp(`^(.*\\.)?(${pattern})$`).test(projection)) return own
  }
  return alpha
}
