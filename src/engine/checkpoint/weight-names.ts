import { elementCount } from './element-types.ts'
import { EngineError, listed } from './engine-error.ts'
import type { ModelShape } from './model-shape.ts'

export interface Parameter {
  /** Hugging Face's name. */
  name: string
  /** Matrices are [out, in]. */
  shape: number[]
  kind: 'matrix' | 'norm' | 'bias'
}

export const EMBEDDING = 'model.embed_tokens.weight'
export const HEAD = 'lm_head.weight'

/** Every parameter of a model, in order of computation. */
export function parametersOf(shape: ModelShape): Parameter[] {
  const { vocabularySize, width } = shape
  const layers = Array.from({ length: shape.layers }, (_, layer) => parametersOfLayer(shape, layer)).flat()
  return [
    { name: EMBEDDING, shape: [vocabularySize, width], kind: 'matrix' },
    ...layers,
    { name: 'model.norm.weight', shape: [width], kind: 'norm' },
    ...(shape.tiedHead ? [] : [{ name: HEAD, shape: [vocabularySize, width], kind: 'matrix' as const }]),
  ]
}

function parametersOfLayer(shape: ModelShape, layer: number): Parameter[] {
  const { width, headWidth, feedForwardWidth } = shape
  const { queryKeyValue, output, feedForward } = shape.projectionBias
  const queries = shape.heads * headWidth
  const keys = shape.keyValueHeads * headWidth
  const prefix = `model.layers.${layer}`
  const norm = (name: string, size: number): Parameter => ({
    name: `${prefix}.${name}.weight`,
    shape: [size],
    kind: 'norm',
  })
  const projection = (name: string, to: number, from: number, bias: boolean): Parameter[] => [
    { name: `${prefix}.${name}.weight`, shape: [to, from], kind: 'matrix' },
    ...(bias ? [{ name: `${prefix}.${name}.bias`, shape: [to], kind: 'bias' as const }] : []),
  ]
  const headNorms = [norm('self_attn.q_norm', headWidth), norm('self_attn.k_norm', headWidth)]
  return [
    norm('input_layernorm', width),
    ...projection('self_attn.q_proj', queries, width, queryKeyValue),
    ...projection('self_attn.k_proj', keys, width, queryKeyValue),
    ...projection('self_attn.v_proj', keys, width, queryKeyValue),
    ...(shape.queryKeyNorm ? headNorms : []),
    ...projection('self_attn.o_proj', width, queries, output),
    norm('post_attention_layernorm', width),
    ...projection('mlp.gate_proj', feedForwardWidth, width, feedForward),
    ...projection('mlp.up_proj', feedForwardWidth, width, feedForward),
    ...projection('mlp.down_proj', width, feedForwardWidth, feedForward),
  ]
}

export function parameterCount(shape: ModelShape): number {
  return parametersOf(shape).reduce((sum, parameter) => sum + elementCount(parameter.shape), 0)
}

/** RoPE tables in older files; they are derived from the shape. */
export function isRopeTable(name: string): boolean {
  return name.endsWith('.rotary_emb.inv_freq')
}

/** Rejects weights that do not match the shape; one error lists everything. */
export function checkWeights(
  weights: ReadonlyMap<string, { shape: readonly number[] }>,
  shape: ModelShape,
): void {
  // Checked before listing all parameters, which would never end with a billion layers.
  if (shape.layers > weights.size)
    throw new EngineError(
      `config.json has ${shape.layers} layers, but there are only ${weights.size} weights`,
      {
        fix: 'Use config.json and weights from the same model.',
      },
    )
  const parameters = parametersOf(shape)
  const known = new Set(parameters.map(({ name }) => name))
  // A tied model may contain a copy of its embedding as head.
  if (shape.tiedHead) known.add(HEAD)
  const missing = parameters.filter(({ name }) => !weights.has(name)).map(({ name }) => name)
  const unexpected = [...weights.keys()].filter((name) => !known.has(name) && !isRopeTable(name))
  const misshapen = parameters.flatMap(({ name, shape: wanted }) => {
    const found = weights.get(name)?.shape
    return found === undefined || String(found) === String(wanted)
      ? []
      : [`${name} is [${found}] instead of [${wanted}]`]
  })
  const findings = [
    ...(missing.length > 0 ? [`missing: ${listed(missing)}`] : []),
    ...(unexpected.length > 0 ? [`unexpected: ${listed(unexpected)}`] : []),
    ...(misshapen.length > 0 ? [`wrong shape: ${listed(misshapen)}`] : []),
  ]
  if (findings.length === 0) return
  throw new EngineError(`the weights do not match config.json. ${findings.join('. ')}`, {
    fix:
      missing.length === 1 && missing[0] === HEAD && unexpected.length + misshapen.length === 0
        ? 'If the model ties its head to the embedding, set "tie_word_embeddings" to true in config.json.'
        : 'Use config.json and weights from the same model.',
    details: { missing, unexpected, misshapen },
  })
}

/** Removes derived tensors: RoPE tables, and the head of a tied model, which must equal the embedding. */
export function dropDerived(
  weights: Map<string, { values?: Float32Array | undefined }>,
  shape: ModelShape,
): void {
  for (const name of [...weights.keys()].filter(isRopeTable)) weights.delete(name)
  const head = weights.get(HEAD)
  if (!shape.tiedHead || head === undefined) return
  if (!equal(head.values, weights.get(EMBEDDING)?.values)) {
    throw new EngineError(`${HEAD} differs from ${EMBEDDING}, but config.json says they are tied`, {
      fix: 'Set "tie_word_embeddings" to false in config.json to keep both.',
    })
  }
  weights.delete(HEAD)
}

function equal(one: Float32Array | undefined, other: Float32Array | undefined): boolean {
  if (one === undefined || one.length !== other?.length) return false
  return one.every((value, index) => Object.is(value, other[index]))
}
