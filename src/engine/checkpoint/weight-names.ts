import { elementCount } from './element-types.ts'
import { EngineError, listed } from './engine-error.ts'
import type { ModelShape } from './model-shape.ts'
import type { StoredTensors } from './stored-tensor.ts'

export interface Parameter {
  /** As Hugging Face names it. */
  name: string
  /** Matrices are [out, in]. */
  shape: number[]
  kind: 'matrix' | 'norm' | 'bias'
}

const EMBEDDING = 'model.embed_tokens.weight'
const HEAD = 'lm_head.weight'

/** Every parameter of a model, in the order of the computation. */
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

/** Tables of the rotation that older files carry along; they follow from the shape. */
export function isRotationTable(name: string): boolean {
  return name.endsWith('.rotary_emb.inv_freq')
}

/** Refuses weights that are not those of the shape, with everything that is wrong in one error. */
export function checkWeights(
  weights: ReadonlyMap<string, { shape: readonly number[] }>,
  shape: ModelShape,
): void {
  // Before a list of all parameters is made: with a billion layers that would never end.
  if (shape.layers > weights.size)
    throw new EngineError(
      `config.json says ${shape.layers} layers, and there are only ${weights.size} weights`,
      {
        fix: 'Take config.json and weights from the same model.',
      },
    )
  const parameters = parametersOf(shape)
  const known = new Set(parameters.map(({ name }) => name))
  // A tied model may carry a copy of its embedding as head.
  if (shape.tiedHead) known.add(HEAD)
  const missing = parameters.filter(({ name }) => !weights.has(name)).map(({ name }) => name)
  const unexpected = [...weights.keys()].filter((name) => !known.has(name) && !isRotationTable(name))
  const misshapen = parameters.flatMap(({ name, shape: wanted }) => {
    const found = weights.get(name)?.shape
    return found === undefined || String(found) === String(wanted)
      ? []
      : [`${name} is [${found}] and should be [${wanted}]`]
  })
  const findings = [
    ...(missing.length > 0 ? [`missing: ${listed(missing)}`] : []),
    ...(unexpected.length > 0 ? [`not of this model: ${listed(unexpected)}`] : []),
    ...(misshapen.length > 0 ? [`of another shape: ${listed(misshapen)}`] : []),
  ]
  if (findings.length === 0) return
  throw new EngineError(`the weights do not fit config.json. ${findings.join('. ')}`, {
    fix:
      missing.length === 1 && missing[0] === HEAD && unexpected.length + misshapen.length === 0
        ? 'If the model uses its embedding as head, set "tie_word_embeddings" to true in config.json.'
        : 'Take config.json and weights from the same model.',
    details: { missing, unexpected, misshapen },
  })
}

/** Removes what follows from the rest: tables of the rotation, and the head of a tied model, which must be equal. */
export function dropDerived(weights: StoredTensors, shape: ModelShape): void {
  for (const name of [...weights.keys()].filter(isRotationTable)) weights.delete(name)
  const head = weights.get(HEAD)
  if (!shape.tiedHead || head === undefined) return
  const embedding = weights.get(EMBEDDING)
  if (embedding === undefined || !equal(head.values, embedding.values)) {
    throw new EngineError(`${HEAD} differs from ${EMBEDDING}, but config.json says they are one`, {
      fix: 'Set "tie_word_embeddings" to false in config.json to keep both.',
    })
  }
  weights.delete(HEAD)
}

function equal(one: Float32Array, other: Float32Array): boolean {
  return one.length === other.length && one.every((value, index) => Object.is(value, other[index]))
}
