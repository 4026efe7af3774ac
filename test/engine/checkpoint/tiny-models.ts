import type { ModelShape } from '../../../src/engine/checkpoint/model-shape.ts'

/** The config.json of a small Llama, with changes. */
export function configOf(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    model_type: 'llama',
    vocab_size: 96,
    hidden_size: 32,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    intermediate_size: 48,
    max_position_embeddings: 128,
    hidden_act: 'silu',
    ...changes,
  }
}

export const tinyLlama: ModelShape = {
  family: 'llama',
  vocabularySize: 96,
  width: 32,
  layers: 2,
  heads: 4,
  keyValueHeads: 2,
  headWidth: 8,
  feedForwardWidth: 48,
  contextLength: 128,
  normEpsilon: 1e-5,
  ropeBase: 10_000,
  ropeScaling: undefined,
  tiedHead: true,
  projectionBias: { queryKeyValue: false, output: false, feedForward: false },
  queryKeyNorm: false,
  initializerRange: 0.02,
  beginToken: 1,
  endTokens: [2],
}
