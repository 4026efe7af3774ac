import { z } from 'zod'
import { RopeFields } from './rope-config.ts'

const whole = z.number().int()
const size = whole.positive()

/** The fields of config.json that matter here. Those left out have the defaults of transformers' classes. */
export const ConfigFields = z.object({
  model_type: z.string(),
  vocab_size: size,
  hidden_size: size,
  num_hidden_layers: size,
  num_attention_heads: size,
  num_key_value_heads: size.nullish(),
  head_dim: size.nullish(),
  intermediate_size: size,
  max_position_embeddings: size,
  hidden_act: z.string().default('silu'),
  rms_norm_eps: z.number().positive().default(1e-6),
  initializer_range: z.number().nonnegative().default(0.02),
  tie_word_embeddings: z.boolean().optional(),
  attention_bias: z.boolean().default(false),
  mlp_bias: z.boolean().default(false),
  rope_theta: z.number().nullish(),
  rope_scaling: RopeFields.nullish(),
  rope_parameters: RopeFields.nullish(),
  partial_rotary_factor: z.number().nullish(),
  original_max_position_embeddings: z.number().positive().nullish(),
  bos_token_id: whole.nullish(),
  eos_token_id: z.union([whole, z.array(whole)]).nullish(),
  pad_token_id: whole.nullish(),
  // What makes a model something else.
  use_sliding_window: z.boolean().nullish(),
  layer_types: z.array(z.string()).nullish(),
  quantization_config: z.unknown().optional(),
  use_moe: z.boolean().nullish(),
  num_experts: z.number().nullish(),
  num_local_experts: z.number().nullish(),
  n_routed_experts: z.number().nullish(),
  inference_rope_scaling: z.boolean().nullish(),
})
export type ConfigFields = z.infer<typeof ConfigFields>

/** What the engine cannot do, each with the advice that goes with it. */
export function unsupported(fields: ConfigFields): { problem: string; fix: string } | undefined {
  if (fields.quantization_config != null) {
    return {
      problem: 'its weights are quantised',
      fix: 'Use the unquantised model, in float32, float16 or bfloat16.',
    }
  }
  // MiniMind lists experts in every configuration, and uses them only when told to.
  const experts =
    fields.model_type === 'minimind'
      ? Number(fields.use_moe ?? false)
      : (fields.num_experts ?? fields.num_local_experts ?? fields.n_routed_experts ?? 0)
  if (experts > 0) {
    return {
      problem: 'it is a mixture of experts',
      fix: 'Use a dense model of the llama, qwen2 or qwen3 family.',
    }
  }
  const otherAttention = fields.layer_types?.find((kind) => kind !== 'full_attention')
  if (fields.use_sliding_window || otherAttention !== undefined) {
    return {
      problem: `some of its layers see only a part of the context (${otherAttention ?? 'use_sliding_window'})`,
      fix: 'Use a model whose layers all see the whole context; turning it off would change what the model computes.',
    }
  }
  if (fields.hidden_act !== 'silu') {
    return {
      problem: `its activation is ${fields.hidden_act}`,
      fix: 'Use a model with the activation silu, as the llama family has.',
    }
  }
  if (fields.inference_rope_scaling) {
    return {
      problem: 'MiniMind stretches positions in a way of its own',
      fix: 'Set "inference_rope_scaling" to false in its config.json, and keep within the first context.',
    }
  }
  return undefined
}
