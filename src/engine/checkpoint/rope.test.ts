import { expect, test } from 'vitest'
import { configOf } from '../../../test/engine/checkpoint/tiny-models.ts'
import { shapeFromConfig } from './model-config.ts'
import { inverseFrequencies, ropeScale } from './rope.ts'

/** Computed with transformers 5.22 (LlamaRotaryEmbedding), in Float32. */
const cases = [
  {
    name: 'plain',
    config: { head_dim: 16, rope_theta: 10_000 },
    frequencies: [1, 0.31622776, 0.1, 0.031622779, 0.0099999998, 0.0031622779, 0.001, 0.00031622779],
    scale: 1,
  },
  {
    name: 'linear',
    config: { head_dim: 16, rope_theta: 10_000, rope_scaling: { type: 'linear', factor: 4 } },
    frequencies: [
      0.25, 0.079056941, 0.025, 0.0079056947, 0.0024999999, 0.00079056947, 0.00025000001, 7.9056947e-5,
    ],
    scale: 1,
  },
  {
    name: 'llama3, as in Llama 3.2 1B',
    config: {
      head_dim: 64,
      max_position_embeddings: 131_072,
      rope_theta: 500_000,
      rope_scaling: {
        rope_type: 'llama3',
        factor: 32,
        low_freq_factor: 1,
        high_freq_factor: 4,
        original_max_position_embeddings: 8192,
      },
    },
    frequencies: [
      1, 0.66360128, 0.44036663, 0.29222783, 0.19392276, 0.12868738, 0.085397102, 0.056669619, 0.037606031,
      0.024955409, 0.016560441, 0.010989529, 0.0072926651, 0.0048394212, 0.0032114461, 0.001290548,
      0.00042955671, 9.7082862e-5, 1.9461639e-5, 1.2914767e-5, 8.5702559e-6, 5.6872323e-6, 3.7740544e-6,
      2.5044671e-6, 1.6619674e-6, 1.1028836e-6, 7.3187493e-7, 4.8567313e-7, 3.2229329e-7, 2.1387423e-7,
      1.419272e-7, 9.4183065e-8,
    ],
    scale: 1,
  },
  {
    name: 'yarn, as Qwen recommends',
    config: {
      head_dim: 32,
      rope_theta: 1_000_000,
      rope_scaling: { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 32_768 },
    },
    frequencies: [
      1, 0.42169651, 0.17782794, 0.074989416, 0.031622779, 0.013335215, 0.0047799014, 0.0016599617, 0.00055,
      0.00016867858, 4.4456985e-5, 1.8747356e-5, 7.9056936e-6, 3.3338035e-6, 1.4058534e-6, 5.9284343e-7,
    ],
    scale: 1.138629436111989,
  },
  {
    name: 'yarn with all fields',
    config: {
      head_dim: 16,
      rope_parameters: {
        rope_type: 'yarn',
        rope_theta: 10_000,
        factor: 8,
        original_max_position_embeddings: 512,
        beta_fast: 16,
        beta_slow: 2,
        attention_factor: 1.5,
      },
    },
    frequencies: [
      1, 0.31622776, 0.070833333, 0.013176158, 0.00125, 0.00039528473, 0.00012500001, 3.9528473e-5,
    ],
    scale: 1.5,
  },
  {
    name: "yarn with DeepSeek's factor, in a tiny context",
    config: {
      head_dim: 8,
      max_position_embeddings: 64,
      rope_theta: 100,
      rope_scaling: {
        rope_type: 'yarn',
        factor: 8,
        original_max_position_embeddings: 8,
        mscale: 0.7,
        mscale_all_dim: 0.5,
      },
    },
    frequencies: [1, 0.03952847, 0.0125, 0.0039528473],
    scale: 1.0376719952405395,
  },
]

test.each(cases)('$name', ({ config, frequencies, scale }) => {
  const shape = shapeFromConfig(configOf(config))
  const found = inverseFrequencies(shape)
  expect(found.length).toBe(frequencies.length)
  found.forEach((frequency, pair) => {
    expect(Math.abs(frequency / frequencies[pair]! - 1)).toBeLessThan(2e-6)
  })
  expect(ropeScale(shape)).toBeCloseTo(scale, 12)
})
