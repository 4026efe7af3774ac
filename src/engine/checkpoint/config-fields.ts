import { z } from 'zod'
import { RopeFields } from './rope-config.ts'

const integer = z.number().int()
const size = integer.positive()

/** The relevant fields of config.json. Defaults are those of the transformers classes. */
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
  bos_token_id: integer.nullish(),
  eos_token_id: z.union([integer, z.array(integer)]).nullish(),
  pad_token_id: integer.nullish(),
  // Signs of an unsupported architecture.
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

/** Unsupported features, each with a suggested fix. */
export function unsupported(fields: ConfigFields): { problem: string; fix: string } | undefined {
  if (fields.quantization_config != null) {
    return {
      problem: 'its weights are quantized',
      fix: 'Use the unquantized model, in float32, float16 or bfloat16.',
    }
  }
  // MiniMind lists experts in every configuration but uses them only with use_moe.
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
      problem: `some of its layers attend to only part of the context (${otherAttention ?? 'use_sliding_window'})`,
      fix: "Use a model with full attention in all layers; disabling the setting would change the model's output.",
    }
  }
  if (fields.hidden_act !== 'silu') {
    return {
      problem: `its activation function is ${fields.hidden_act}`,
      fix: 'Use a model with the silu activation, as in the llama family.',
    }
  }
  if (fields.inference_rope_scaling) {
    return {
      problem: 'MiniMind uses its own kind of RoPE scaling',
      fix: 'Set "inference_rope_scaling" to false in its config.json, and stay within the original context.',
    }
  }
  return undefined
}
