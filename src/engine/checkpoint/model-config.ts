import { ConfigFields, unsupported } from './config-fields.ts'
import { type ElementType, pytorchName } from './element-types.ts'
import { EngineError } from './engine-error.ts'
import { checkShape, type ModelFamily, type ModelShape } from './model-shape.ts'
import { type RopeFields, ropeFieldsOf, ropeScalingOf } from './rope-config.ts'

/**
 * Reads the config.json of any Llama-family model, in the format of transformers 4 or 5. MiniMind's does not say whether
 * queries and keys are normalized, so the weight names decide.
 */
export function shapeFromConfig(config: unknown, weightNames: Iterable<string> = []): ModelShape {
  const family = familyOf(config, weightNames)
  const parsed = ConfigFields.safeParse(config)
  if (!parsed.success) {
    const wrong = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
    throw unsupportedConfig(wrong.slice(0, 5).join('; '), 'Restore config.json from the model it belongs to.')
  }
  const fields = parsed.data
  const limitation = unsupported(fields)
  if (limitation !== undefined) throw unsupportedConfig(limitation.problem, limitation.fix)
  const shape = shapeOf(fields, family)
  checkShape(shape)
  return shape
}

function familyOf(config: unknown, weightNames: Iterable<string>): ModelFamily {
  const type = (config as { model_type?: unknown } | null)?.model_type
  if (type === 'llama' || type === 'qwen2' || type === 'qwen3') return type
  if (type === 'minimind') {
    return [...weightNames].some((name) => name.endsWith('.q_norm.weight')) ? 'qwen3' : 'llama'
  }
  throw unsupportedConfig(
    typeof type === 'string' ? `its model_type is ${type}` : 'it has no model_type',
    'Use a model of the llama, qwen2 or qwen3 family, or an engine that supports this one.',
  )
}

function unsupportedConfig(problem: string, fix: string): EngineError {
  return new EngineError(`unsupported or invalid config.json: ${problem}`, { fix })
}

function shapeOf(fields: ConfigFields, family: ModelFamily): ModelShape {
  const minimind = fields.model_type === 'minimind'
  const defaultBase = minimind ? 1_000_000 : 10_000
  const heads = fields.num_attention_heads
  // As in transformers, the older field takes precedence if both are given.
  const given = (rope: object | null | undefined) => rope != null && Object.keys(rope).length > 0
  const rope = (given(fields.rope_scaling) ? fields.rope_scaling : fields.rope_parameters) ?? {}
  const scaling = ropeScalingOf(withOuterFields(rope, fields), fields.max_position_embeddings)
  if (typeof scaling === 'string')
    throw unsupportedConfig(scaling, 'Use a model with plain, linear, llama3 or yarn RoPE.')
  const beginToken = token(fields.bos_token_id, family === 'llama' ? 1 : undefined)
  const padToken = token(fields.pad_token_id, undefined)
  const ends = fields.eos_token_id === undefined && family === 'llama' ? 2 : (fields.eos_token_id ?? [])
  const attentionBias = family === 'qwen2' || fields.attention_bias
  return {
    family,
    vocabularySize: fields.vocab_size,
    width: fields.hidden_size,
    layers: fields.num_hidden_layers,
    heads,
    keyValueHeads: fields.num_key_value_heads ?? heads,
    headWidth: fields.head_dim ?? (family === 'qwen3' && !minimind ? 128 : fields.hidden_size / heads),
    feedForwardWidth: fields.intermediate_size,
    contextLength: fields.max_position_embeddings,
    normEpsilon: fields.rms_norm_eps,
    ropeBase: rope.rope_theta ?? fields.rope_theta ?? fields.rope_parameters?.rope_theta ?? defaultBase,
    ropeScaling: scaling.scaling,
    tiedHead: fields.tie_word_embeddings ?? minimind,
    projectionBias: {
      queryKeyValue: attentionBias,
      output: attentionBias && family !== 'qwen2',
      feedForward: family === 'llama' && fields.mlp_bias,
    },
    queryKeyNorm: family === 'qwen3',
    initializerRange: fields.initializer_range,
    ...(beginToken === undefined ? {} : { beginToken }),
    endTokens: [ends].flat().filter((id) => id >= 0),
    ...(padToken === undefined ? {} : { padToken }),
  }
}

/** Two fields that some models have at the top level. */
function withOuterFields(rope: RopeFields, fields: ConfigFields): RopeFields {
  return {
    ...rope,
    partial_rotary_factor: rope.partial_rotary_factor ?? fields.partial_rotary_factor,
    original_max_position_embeddings:
      fields.original_max_position_embeddings ?? rope.original_max_position_embeddings,
  }
}

/** Absent means the family's default; null, and -1 in older models, mean none. */
function token(id: number | null | undefined, whenAbsent: number | undefined): number | undefined {
  if (id === undefined) return whenAbsent
  return id === null || id < 0 ? undefined : id
}

const architectures = { llama: 'LlamaForCausalLM', qwen2: 'Qwen2ForCausalLM', qwen3: 'Qwen3ForCausalLM' }

/** The config.json of a shape, with RoPE fields in the formats of transformers 4 and 5. */
export function configFromShape(
  shape: ModelShape,
  elementType: ElementType = 'F32',
): Record<string, unknown> {
  checkShape(shape)
  const rope = ropeFieldsOf(shape.ropeScaling)
  const { queryKeyValue, feedForward } = shape.projectionBias
  return {
    architectures: [architectures[shape.family]],
    model_type: shape.family,
    vocab_size: shape.vocabularySize,
    hidden_size: shape.width,
    num_hidden_layers: shape.layers,
    num_attention_heads: shape.heads,
    num_key_value_heads: shape.keyValueHeads,
    head_dim: shape.headWidth,
    intermediate_size: shape.feedForwardWidth,
    max_position_embeddings: shape.contextLength,
    hidden_act: 'silu',
    rms_norm_eps: shape.normEpsilon,
    initializer_range: shape.initializerRange,
    tie_word_embeddings: shape.tiedHead,
    rope_theta: shape.ropeBase,
    rope_scaling: shape.ropeScaling === undefined ? null : rope,
    rope_parameters: { rope_theta: shape.ropeBase, ...rope },
    attention_dropout: 0,
    ...(shape.family === 'qwen2' ? {} : { attention_bias: queryKeyValue }),
    ...(shape.family === 'llama' ? { mlp_bias: feedForward } : { use_sliding_window: false }),
    ...generationFromShape(shape),
    torch_dtype: pytorchName[elementType],
    use_cache: true,
  }
}

/** The generation_config.json of a shape: begin, end and padding tokens. */
export function generationFromShape(shape: ModelShape): Record<string, unknown> {
  const [first, ...others] = shape.endTokens
  return {
    bos_token_id: shape.beginToken ?? null,
    eos_token_id: first === undefined ? null : others.length === 0 ? first : shape.endTokens,
    pad_token_id: shape.padToken ?? null,
  }
}
