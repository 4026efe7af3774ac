import { expect, test } from 'vitest'
import { tinyLlama } from '../../../test/engine/checkpoint/tiny-models.ts'
import type { ModelShape } from './model-shape.ts'
import { xoshiro } from './random-stream.ts'
import { randomWeights } from './random-weights.ts'
import { checkWeights, dropDerived, parameterCount, parametersOf } from './weight-names.ts'

const names = (shape: ModelShape) => parametersOf(shape).map(({ name, shape: sizes }) => `${name} [${sizes}]`)

test('the parameters of a small llama', () => {
  expect(names({ ...tinyLlama, layers: 1 })).toEqual([
    'model.embed_tokens.weight [96,32]',
    'model.layers.0.input_layernorm.weight [32]',
    'model.layers.0.self_attn.q_proj.weight [32,32]',
    'model.layers.0.self_attn.k_proj.weight [16,32]',
    'model.layers.0.self_attn.v_proj.weight [16,32]',
    'model.layers.0.self_attn.o_proj.weight [32,32]',
    'model.layers.0.post_attention_layernorm.weight [32]',
    'model.layers.0.mlp.gate_proj.weight [48,32]',
    'model.layers.0.mlp.up_proj.weight [48,32]',
    'model.layers.0.mlp.down_proj.weight [32,48]',
    'model.norm.weight [32]',
  ])
  expect(parameterCount(tinyLlama)).toBe(96 * 32 + 2 * (32 * 32 * 2 + 16 * 32 * 2 + 3 * 48 * 32 + 64) + 32)
})

test('biases, query and key norms, and an untied head add parameters', () => {
  const all = names({
    ...tinyLlama,
    tiedHead: false,
    queryKeyNorm: true,
    projectionBias: { queryKeyValue: true, output: true, feedForward: true },
  })
  const added = all.filter((name) => !names(tinyLlama).includes(name) && !name.includes('layers.1'))
  expect(added.map((name) => name.replace('model.layers.0.', '')).sort()).toEqual([
    'lm_head.weight [96,32]',
    'mlp.down_proj.bias [32]',
    'mlp.gate_proj.bias [48]',
    'mlp.up_proj.bias [48]',
    'self_attn.k_norm.weight [8]',
    'self_attn.k_proj.bias [16]',
    'self_attn.o_proj.bias [32]',
    'self_attn.q_norm.weight [8]',
    'self_attn.q_proj.bias [32]',
    'self_attn.v_proj.bias [16]',
  ])
})

test('one error lists all mismatches', () => {
  const weights = randomWeights(tinyLlama, 1)
  checkWeights(weights, tinyLlama)
  weights.delete('model.norm.weight')
  weights.set('score.weight', { shape: [1], values: new Float32Array(1) })
  weights.set('model.layers.0.rotary_emb.inv_freq', { shape: [4], values: new Float32Array(4) })
  weights.get('model.embed_tokens.weight')!.shape = [32, 96]
  expect(() => checkWeights(weights, tinyLlama)).toThrow(
    /missing: model.norm.weight. unexpected: score.weight. wrong shape: model.embed_tokens.weight is \[32,96\] instead of \[96,32\]$/,
  )
})

test('the head of a tied model is accepted if it equals the embedding', () => {
  const weights = randomWeights(tinyLlama, 1)
  const embedding = weights.get('model.embed_tokens.weight')!
  const head = { shape: embedding.shape, values: embedding.values.slice() }
  weights.set('lm_head.weight', head)
  weights.set('model.layers.1.self_attn.rotary_emb.inv_freq', { shape: [0], values: new Float32Array(0) })
  checkWeights(weights, tinyLlama)
  const kept = new Map(weights)
  dropDerived(kept, tinyLlama)
  expect([...kept.keys()]).toEqual(parametersOf(tinyLlama).map(({ name }) => name))
  head.values[5]! += 1
  expect(() => dropDerived(weights, tinyLlama)).toThrow(/differs/)
})

test('a missing head suggests tie_word_embeddings', () => {
  expect(() => checkWeights(randomWeights(tinyLlama, 1), { ...tinyLlama, tiedHead: false })).toThrow(
    expect.objectContaining({ fix: expect.stringMatching(/tie_word_embeddings/) }),
  )
})

test('random weights depend only on the seed and the name', () => {
  const one = randomWeights(tinyLlama, 7)
  expect(randomWeights(tinyLlama, 7)).toEqual(one)
  const deeper = randomWeights({ ...tinyLlama, layers: 3, tiedHead: false }, 7)
  for (const [name, tensor] of one) expect(deeper.get(name)).toEqual(tensor)
  expect(randomWeights(tinyLlama, 8).get('model.embed_tokens.weight')).not.toEqual(
    one.get('model.embed_tokens.weight'),
  )
  // Pinned: a change here changes every model trained from a seed.
  expect([...one.get('model.layers.1.mlp.up_proj.weight')!.values.slice(0, 4)]).toEqual([
    -0.017863018438220024, -0.007207589689642191, -0.0066061136312782764, 0.017276683822274208,
  ])
})

test('random matrices are normal, norms are one, biases zero', () => {
  const bias = { queryKeyValue: true, output: true, feedForward: false }
  const shape = { ...tinyLlama, vocabularySize: 5001, width: 36, projectionBias: bias }
  const weights = randomWeights(shape, 3)
  const { values } = weights.get('model.embed_tokens.weight')!
  const moment = (power: number) =>
    values.reduce((sum, value) => sum + (value / 0.02) ** power, 0) / values.length
  expect(Math.abs(moment(1))).toBeLessThan(0.01)
  expect(moment(2)).toBeCloseTo(1, 1)
  expect(moment(4)).toBeCloseTo(3, 0)
  const beyondTwo = values.filter((value) => Math.abs(value) > 0.04).length / values.length
  expect(beyondTwo).toBeCloseTo(0.0455, 2)
  expect(new Set(weights.get('model.norm.weight')!.values)).toEqual(new Set([1]))
  expect(new Set(weights.get('model.layers.0.self_attn.o_proj.bias')!.values)).toEqual(new Set([0]))
})

test('the generator is xoshiro128**', () => {
  // Values from another implementation, in Python with arbitrary-precision integers.
  const next = xoshiro(1, 2, 3, 4)
  expect(Array.from({ length: 10 }, next)).toEqual([
    11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804,
  ])
})
