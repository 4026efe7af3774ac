import { z } from 'zod'
import type { RopeScaling } from './model-shape.ts'
import { yarnAttentionFactor } from './rope.ts'

const positive = z.number().positive()
const optional = positive.nullish()

/** `rope_scaling` (transformers 4) or `rope_parameters` (transformers 5): the same fields, plus the base in the latter. */
export const RopeFields = z.object({
  rope_type: z.string().nullish(),
  type: z.string().nullish(),
  rope_theta: optional,
  partial_rotary_factor: optional,
  factor: optional,
  original_max_position_embeddings: optional,
  low_freq_factor: optional,
  high_freq_factor: optional,
  attention_factor: optional,
  beta_fast: optional,
  beta_slow: optional,
  mscale: optional,
  mscale_all_dim: optional,
  truncate: z.boolean().nullish(),
})
export type RopeFields = z.infer<typeof RopeFields>

/** Reads the scaling; a string describes an unsupported value. */
export function ropeScalingOf(
  fields: RopeFields,
  contextLength: number,
): { scaling: RopeScaling | undefined } | string {
  const kind = fields.rope_type ?? fields.type ?? 'default'
  if ((fields.partial_rotary_factor ?? 1) !== 1) return 'only part of each head is rotated'
  if (kind === 'default') return { scaling: undefined }
  const originalContext = fields.original_max_position_embeddings ?? contextLength
  if (kind === 'yarn') return yarnOf(fields, contextLength, originalContext)
  const { factor } = fields
  if (kind === 'linear') {
    return factor == null ? 'linear rope scaling has no factor' : { scaling: { kind, factor } }
  }
  if (kind !== 'llama3') return `unknown rope scaling "${kind}"`
  const { low_freq_factor: lowFrequencyFactor, high_freq_factor: highFrequencyFactor } = fields
  if (factor == null || lowFrequencyFactor == null || highFrequencyFactor == null) {
    return 'llama3 rope scaling lacks factor, low_freq_factor or high_freq_factor'
  }
  if (lowFrequencyFactor >= highFrequencyFactor) return 'low_freq_factor is not below high_freq_factor'
  return { scaling: { kind, factor, lowFrequencyFactor, highFrequencyFactor, originalContext } }
}

function yarnOf(
  fields: RopeFields,
  contextLength: number,
  originalContext: number,
): { scaling: RopeScaling } | string {
  if (fields.truncate === false) return 'yarn without truncation is not supported'
  const factor = fields.factor ?? contextLength / originalContext
  // DeepSeek gives the factor as the ratio of two values.
  const { mscale, mscale_all_dim: mscaleAll } = fields
  const derived =
    mscale != null && mscaleAll != null
      ? yarnAttentionFactor(factor, mscale) / yarnAttentionFactor(factor, mscaleAll)
      : undefined
  const attentionFactor = fields.attention_factor ?? derived
  return {
    scaling: {
      kind: 'yarn',
      factor,
      originalContext,
      ...(attentionFactor === undefined ? {} : { attentionFactor }),
      betaFast: fields.beta_fast ?? 32,
      betaSlow: fields.beta_slow ?? 1,
    },
  }
}

/** The fields of `rope_scaling` for config.json. */
export function ropeFieldsOf(
  scaling: RopeScaling | undefined,
): Record<string, unknown> & { rope_type: string } {
  switch (scaling?.kind) {
    case undefined:
      return { rope_type: 'default' }
    case 'linear':
      return { rope_type: 'linear', factor: scaling.factor }
    case 'llama3':
      return {
        rope_type: 'llama3',
        factor: scaling.factor,
        low_freq_factor: scaling.lowFrequencyFactor,
        high_freq_factor: scaling.highFrequencyFactor,
        original_max_position_embeddings: scaling.originalContext,
      }
    case 'yarn':
      return {
        rope_type: 'yarn',
        factor: scaling.factor,
        original_max_position_embeddings: scaling.originalContext,
        ...(scaling.attentionFactor === undefined ? {} : { attention_factor: scaling.attentionFactor }),
        beta_fast: scaling.betaFast,
        beta_slow: scaling.betaSlow,
      }
  }
}
