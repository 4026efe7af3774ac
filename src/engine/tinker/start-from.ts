import { adapterOf, EngineError, existingFolder } from '../checkpoint/index.ts'
import { baseModelFor } from './base-models.ts'
import type { Capabilities } from './protocol-types.ts'
import { isRemote, readRemote } from './remote-checkpoint.ts'
import type { TinkerOptions } from './tinker-options.ts'
import type { Wire } from './wire.ts'

/** What a model on a server starts from. */
export interface StartingPoint {
  /** The server's name. */
  baseModel: string
  lora: TinkerOptions['lora']
  /** The local folder of the base model, if known: saved adapters refer to it. */
  base?: string
  /** A checkpoint to load the weights from. */
  load?: string
}

/** Decides what to start from: a full model, with a new adapter or none, or a saved adapter on its base. */
export async function startFrom(
  wire: Wire,
  { supported_models }: Capabilities,
  options: TinkerOptions & { ours: boolean; saved: string | undefined },
): Promise<StartingPoint> {
  const names = supported_models.map(({ model_name }) => model_name)
  const { model, lora, ours, saved } = options
  if (model === undefined) return { baseModel: saved ?? nameOf(options, names), lora }
  if (!ours) return saved === undefined ? startRemotely(options, names) : { baseModel: saved, lora }
  const adapter = adapterOf(model)
  const base = adapter?.base ?? existingFolder(model)
  const baseModel = saved ?? (await baseModelFor(wire, names, base, options))
  if (adapter === undefined) return { baseModel, lora, base }
  const { rank, alpha } = adapter
  if (lora !== undefined && lora.rank !== rank)
    throw new EngineError(`${model} is an adapter of rank ${rank}, not ${lora.rank}.`, {
      fix: `Set student.lora_rank to ${rank}, or merge it first with \`coa model convert ${model} OUT\`.`,
    })
  // The model of a resumed session already has its weights.
  return { baseModel, lora: { ...lora, rank, alpha }, base, ...(saved === undefined ? { load: model } : {}) }
}

/** Other servers do not accept uploads: they start with their own model, or with a checkpoint stored there. */
function startRemotely(options: TinkerOptions, names: readonly string[]): StartingPoint {
  const { lora, observe } = options
  const model = options.model!
  const base = adapterOf(model)?.base ?? existingFolder(model)
  if (isRemote(model)) {
    const { baseModel, rank } = readRemote(model)
    if (lora !== undefined && lora.rank !== rank)
      throw new EngineError(`${model} was trained with LoRA rank ${rank}, not ${lora.rank}.`, {
        fix: `Set student.lora_rank to ${rank}.`,
      })
    return { baseModel, lora: rank === 0 ? undefined : { ...lora, rank }, base, load: model }
  }
  const baseModel = nameOf(options, names)
  observe?.(`the server starts with its own ${baseModel}; weights from ${model} are not uploaded`)
  return { baseModel, lora, base }
}

function nameOf({ baseModel, url }: TinkerOptions, names: readonly string[]): string {
  if (baseModel === undefined && names[0] !== undefined) return names[0]
  if (baseModel !== undefined && names.includes(baseModel)) return baseModel
  throw new EngineError(`The server at ${url} has no model ${baseModel ?? ''}.`, {
    fix: `It has: ${names.join(', ') || 'none'}.`,
  })
}
