import fc from 'fast-check'
import { expect, test } from 'vitest'
import { configOf, tinyLlama } from '../../../test/engine/checkpoint/tiny-models.ts'
import { EngineError } from './engine-error.ts'
import { configFromShape, shapeFromConfig } from './model-config.ts'
import type { ModelShape, RopeScaling } from './model-shape.ts'
import { parameterCount } from './weight-names.ts'

/** Published models with their parameter counts on Hugging Face. */
const published = [
  {
    name: 'Llama 3.2 1B',
    parameters: 1_235_814_400,
    config: {
      architectures: ['LlamaForCausalLM'],
      attention_bias: false,
      attention_dropout: 0,
      bos_token_id: 128_000,
      eos_token_id: [128_001, 128_008, 128_009],
      head_dim: 64,
      hidden_act: 'silu',
      hidden_size: 2048,
      initializer_range: 0.02,
      intermediate_size: 8192,
      max_position_embeddings: 131_072,
      mlp_bias: false,
      model_type: 'llama',
      num_attention_heads: 32,
      num_hidden_layers: 16,
      num_key_value_heads: 8,
      pretraining_tp: 1,
      rms_norm_eps: 1e-5,
      rope_scaling: {
        factor: 32,
        high_freq_factor: 4,
        low_freq_factor: 1,
        original_max_position_embeddings: 8192,
        rope_type: 'llama3',
      },
      rope_theta: 500_000,
      tie_word_embeddings: true,
      torch_dtype: 'bfloat16',
      vocab_size: 128_256,
    },
    shape: {
      family: 'llama',
      headWidth: 64,
      tiedHead: true,
      endTokens: [128_001, 128_008, 128_009],
      ropeScaling: {
        kind: 'llama3',
        factor: 32,
        lowFrequencyFactor: 1,
        highFrequencyFactor: 4,
        originalContext: 8192,
      },
    },
  },
  {
    name: 'Qwen2.5 0.5B',
    parameters: 494_032_768,
    config: {
      model_type: 'qwen2',
      bos_token_id: 151_643,
      eos_token_id: 151_643,
      hidden_act: 'silu',
      hidden_size: 896,
      intermediate_size: 4864,
      max_position_embeddings: 32_768,
      max_window_layers: 24,
      num_attention_heads: 14,
      num_hidden_layers: 24,
      num_key_value_heads: 2,
      rms_norm_eps: 1e-6,
      rope_theta: 1_000_000,
      sliding_window: 32_768,
      tie_word_embeddings: true,
      use_sliding_window: false,
      vocab_size: 151_936,
    },
    shape: {
      family: 'qwen2',
      headWidth: 64,
      projectionBias: { queryKeyValue: true, output: false, feedForward: false },
      ropeBase: 1_000_000,
    },
  },
  {
    name: 'Qwen3 0.6B, in the format of transformers 5',
    parameters: 596_049_920,
    config: {
      model_type: 'qwen3',
      attention_bias: false,
      bos_token_id: null,
      eos_token_id: 151_645,
      pad_token_id: 151_643,
      head_dim: 128,
      hidden_act: 'silu',
      hidden_size: 1024,
      intermediate_size: 3072,
      layer_types: Array(28).fill('full_attention'),
      max_position_embeddings: 40_960,
      num_attention_heads: 16,
      num_hidden_layers: 28,
      num_key_value_heads: 8,
      rms_norm_eps: 1e-6,
      rope_parameters: { rope_theta: 1_000_000, rope_type: 'default' },
      sliding_window: null,
      tie_word_embeddings: true,
      use_sliding_window: false,
      vocab_size: 151_936,
    },
    shape: {
      family: 'qwen3',
      headWidth: 128,
      queryKeyNorm: true,
      ropeBase: 1_000_000,
      ropeScaling: undefined,
      endTokens: [151_645],
      padToken: 151_643,
    },
  },
  {
    name: 'SmolLM2 135M',
    parameters: 134_515_008,
    config: {
      model_type: 'llama',
      bos_token_id: 0,
      eos_token_id: 0,
      hidden_act: 'silu',
      hidden_size: 576,
      initializer_range: 0.041666666666666664,
      intermediate_size: 1536,
      max_position_embeddings: 8192,
      num_attention_heads: 9,
      num_hidden_layers: 30,
      num_key_value_heads: 3,
      rms_norm_eps: 1e-5,
      rope_scaling: null,
      rope_theta: 100_000,
      tie_word_embeddings: true,
      vocab_size: 49_152,
    },
    shape: { beginToken: 0, endTokens: [0], headWidth: 64, initializerRange: 1 / 24 },
  },
  {
    name: 'TinyLlama 1.1B',
    parameters: 1_100_048_384,
    config: {
      model_type: 'llama',
      bos_token_id: 1,
      eos_token_id: 2,
      hidden_act: 'silu',
      hidden_size: 2048,
      intermediate_size: 5632,
      max_position_embeddings: 2048,
      num_attention_heads: 32,
      num_hidden_layers: 22,
      num_key_value_heads: 4,
      rms_norm_eps: 1e-5,
      tie_word_embeddings: false,
      vocab_size: 32_000,
    },
    shape: { tiedHead: false, ropeBase: 10_000 },
  },
]

test.each(published)('$name', ({ config, shape, parameters }) => {
  const found = shapeFromConfig(config)
  expect(found).toMatchObject(shape)
  expect(parameterCount(found)).toBe(parameters)
  expect(shapeFromConfig(configFromShape(found))).toEqual(found)
})

test('MiniMind is a llama or, with norms on queries and keys, a qwen3', () => {
  const config = configOf({ model_type: 'minimind', use_moe: false, n_routed_experts: 4, num_experts: 4 })
  expect(shapeFromConfig(config)).toMatchObject({ family: 'llama', tiedHead: true, ropeBase: 1_000_000 })
  const names = ['model.layers.0.self_attn.q_norm.weight']
  expect(shapeFromConfig(config, names)).toMatchObject({ family: 'qwen3', headWidth: 8, queryKeyNorm: true })
})

test('absent, null and negative tokens', () => {
  expect(shapeFromConfig(configOf())).toMatchObject({ beginToken: 1, endTokens: [2] })
  const none = shapeFromConfig(configOf({ bos_token_id: null, eos_token_id: null, pad_token_id: -1 }))
  expect(none).toMatchObject({ endTokens: [] })
  expect(none).not.toHaveProperty('beginToken')
  expect(none).not.toHaveProperty('padToken')
})

test('the older RoPE fields take precedence if both are given', () => {
  const config = configOf({
    rope_theta: 777,
    rope_scaling: { type: 'linear', factor: 2 },
    rope_parameters: { rope_type: 'default', rope_theta: 5 },
  })
  expect(shapeFromConfig(config)).toMatchObject({ ropeBase: 777, ropeScaling: { kind: 'linear', factor: 2 } })
  expect(shapeFromConfig({ ...config, rope_scaling: {} })).toMatchObject({
    ropeBase: 5,
    ropeScaling: undefined,
  })
})

test.each<[string, Record<string, unknown>, RegExp]>([
  ['another family', { model_type: 'gpt2' }, /model_type is gpt2/],
  ['no family', { model_type: undefined }, /no model_type/],
  ['a mixture of experts', { num_local_experts: 8 }, /mixture of experts/],
  ['MiniMind with experts', { model_type: 'minimind', use_moe: true }, /mixture of experts/],
  [
    'MiniMind with RoPE scaling',
    { model_type: 'minimind', inference_rope_scaling: true },
    /its own kind of RoPE scaling/,
  ],
  ['quantized weights', { quantization_config: { bits: 4 } }, /quantized/],
  ['a sliding window', { model_type: 'qwen2', use_sliding_window: true }, /only part of the context/],
  ['sliding layers', { layer_types: ['full_attention', 'sliding_attention'] }, /sliding_attention/],
  ['another activation', { hidden_act: 'gelu' }, /activation function is gelu/],
  ['another scaling', { rope_scaling: { type: 'dynamic', factor: 2 } }, /unknown rope scaling "dynamic"/],
  ['scaling without its factor', { rope_scaling: { type: 'linear' } }, /no factor/],
  ['incomplete llama3 scaling', { rope_scaling: { rope_type: 'llama3', factor: 8 } }, /lacks/],
  ['partial rotation', { partial_rotary_factor: 0.5 }, /only part of each head/],
  ['yarn without truncation', { rope_scaling: { type: 'yarn', factor: 2, truncate: false } }, /truncation/],
  ['unevenly grouped heads', { num_key_value_heads: 3 }, /cannot be divided evenly/],
  ['an odd head', { head_dim: 7 }, /headWidth 7 is odd/],
  ['a width that is not a multiple', { hidden_size: 33, head_dim: 8 }, /not a multiple/],
  ['a fractional head width', { hidden_size: 34 }, /headWidth is 8.5/],
  ['a missing size', { vocab_size: undefined }, /vocab_size/],
  ['a negative size', { hidden_size: -32 }, /hidden_size/],
  ['a size given as a string', { num_hidden_layers: '2' }, /num_hidden_layers/],
])('%s is rejected', (_, changes, message) => {
  expect(() => shapeFromConfig(configOf(changes))).toThrow(EngineError)
  expect(() => shapeFromConfig(configOf(changes))).toThrow(message)
})

test('any JSON is read or rejected', () => {
  const config = fc.oneof(
    fc.jsonValue(),
    fc
      .dictionary(fc.constantFrom(...Object.keys(configOf()), 'rope_scaling', 'rope_theta'), fc.jsonValue())
      .map(configOf),
  )
  fc.assert(
    fc.property(config, (json) => {
      try {
        shapeFromConfig(json)
      } catch (error) {
        expect(error).toBeInstanceOf(EngineError)
      }
    }),
  )
})

const factor = fc.integer({ min: 2, max: 16 })
const scalings = fc.oneof<fc.Arbitrary<RopeScaling | undefined>[]>(
  fc.constant(undefined),
  factor.map((value) => ({ kind: 'linear', factor: value }) as const),
  factor.map(
    (value) =>
      ({
        kind: 'llama3',
        factor: value,
        lowFrequencyFactor: 1,
        highFrequencyFactor: 4,
        originalContext: 256,
      }) as const,
  ),
  fc.tuple(factor, fc.boolean()).map(
    ([value, given]) =>
      ({
        kind: 'yarn',
        factor: value,
        originalContext: 64,
        betaFast: 32,
        betaSlow: 1,
        ...(given ? { attentionFactor: 1.25 } : {}),
      }) as const,
  ),
)

test('every shape of every family round-trips through config.json', () => {
  const shapes = fc
    .record({
      family: fc.constantFrom('llama', 'qwen2', 'qwen3'),
      bias: fc.boolean(),
      feedForward: fc.boolean(),
      ropeScaling: scalings,
      tiedHead: fc.boolean(),
      endTokens: fc.array(fc.nat(90), { maxLength: 3 }),
      padToken: fc.option(fc.nat(90), { nil: undefined }),
      keyValueHeads: fc.constantFrom(1, 2, 4),
      headWidth: fc.constantFrom(2, 8, 32),
    })
    .map(
      ({ bias, feedForward, padToken, ...rest }): ModelShape => ({
        ...tinyLlama,
        ...rest,
        projectionBias: {
          queryKeyValue: rest.family === 'qwen2' || bias,
          output: rest.family !== 'qwen2' && bias,
          feedForward: rest.family === 'llama' && feedForward,
        },
        queryKeyNorm: rest.family === 'qwen3',
        ...(padToken === undefined ? {} : { padToken }),
      }),
    )
  fc.assert(
    fc.property(shapes, (shape) => {
      expect(shapeFromConfig(JSON.parse(JSON.stringify(configFromShape(shape))))).toEqual(shape)
    }),
  )
})

test('shapes that config.json cannot express are rejected', () => {
  expect(() => configFromShape({ ...tinyLlama, queryKeyNorm: true })).toThrow(/only qwen3/)
  expect(() => configFromShape({ ...tinyLlama, family: 'qwen2' })).toThrow(/qwen2 has biases/)
  expect(() => configFromShape({ ...tinyLlama, layers: 0 })).toThrow(/layers is 0/)
  expect(() => configFromShape({ ...tinyLlama, endTokens: [-1] })).toThrow(/endTokens -1/)
})
