import { EngineError, inverseFrequencies, type ModelShape } from '../checkpoint/index.ts'
import { yarnAttentionFactor } from '../checkpoint/rope.ts'
import type { GgufValue, Metadata } from './values.ts'

const uint32 = (value: number): GgufValue => ({ type: 'uint32', value })
const real = (value: number): GgufValue => ({ type: 'float32', value })
const text = (value: string): GgufValue => ({ type: 'string', value })

/** Model metadata for llama.cpp, besides weights and tokenizer. */
export function metadataOfShape(shape: ModelShape): Metadata {
  rejectUnsupported(shape)
  const { family } = shape
  const entries: [string, GgufValue][] = [
    ['block_count', uint32(shape.layers)],
    ['context_length', uint32(shape.contextLength)],
    ['embedding_length', uint32(shape.width)],
    ['feed_forward_length', uint32(shape.feedForwardWidth)],
    ['vocab_size', uint32(shape.vocabularySize)],
    ['attention.head_count', uint32(shape.heads)],
    ['attention.head_count_kv', uint32(shape.keyValueHeads)],
    ['attention.key_length', uint32(shape.headWidth)],
    ['attention.value_length', uint32(shape.headWidth)],
    ['attention.layer_norm_rms_epsilon', real(shape.normEpsilon)],
    ['rope.dimension_count', uint32(shape.headWidth)],
    ['rope.freq_base', real(shape.ropeBase)],
    ...scalingEntries(shape),
  ]
  return new Map(entries.map(([name, value]) => [`${family}.${name}`, value]))
}

function scalingEntries({ ropeScaling: scaling }: ModelShape): [string, GgufValue][] {
  // llama3 scaling is stored as a tensor: see `ropeFactors`.
  if (scaling === undefined || scaling.kind === 'llama3') return []
  const common: [string, GgufValue][] = [
    ['rope.scaling.type', text(scaling.kind)],
    ['rope.scaling.factor', real(scaling.factor)],
  ]
  if (scaling.kind === 'linear') return common
  const { attentionFactor, factor } = scaling
  return [
    ...common,
    ['rope.scaling.original_context_length', uint32(scaling.originalContext)],
    // llama.cpp multiplies this by the factor derived from the scaling.
    ...(attentionFactor === undefined
      ? []
      : [
          ['rope.scaling.attn_factor', real(attentionFactor / yarnAttentionFactor(factor, 1))] as [
            string,
            GgufValue,
          ],
        ]),
  ]
}

/** Frequency divisors of llama3 RoPE scaling; undefined for other kinds. */
export function ropeFactors(shape: ModelShape): Float32Array | undefined {
  if (shape.ropeScaling?.kind !== 'llama3') return undefined
  const plain = inverseFrequencies({ ...shape, ropeScaling: undefined })
  return Float32Array.from(inverseFrequencies(shape), (frequency, pair) => plain[pair]! / frequency)
}

/** llama.cpp does not support every shape that config.json can describe. */
function rejectUnsupported(shape: ModelShape): void {
  const { family, width, heads, headWidth, ropeScaling, projectionBias } = shape
  const problem =
    family !== 'llama' && ropeScaling?.kind === 'llama3'
      ? `llama3 RoPE scaling in a ${family} model`
      : family === 'qwen3' && projectionBias.queryKeyValue
        ? 'attention biases in a qwen3 model'
        : family === 'qwen2' && heads * headWidth !== width
          ? `a qwen2 model whose ${heads} heads of ${headWidth} are not as wide as the model (${width})`
          : ropeScaling?.kind === 'yarn' && (ropeScaling.betaFast !== 32 || ropeScaling.betaSlow !== 1)
            ? // It has keys for them, but reads them only for other families.
              `yarn with bounds other than 32 and 1 (${ropeScaling.betaFast} and ${ropeScaling.betaSlow})`
            : undefined
  if (problem === undefined) return
  throw new EngineError(`llama.cpp does not support ${problem}`, {
    fix: 'Use the safetensors folder instead: vLLM and transformers can load it directly.',
  })
}
