import type { ModelShape, RopeScaling } from './model-shape.ts'

type Yarn = Extract<RopeScaling, { kind: 'yarn' }>
type LlamaThree = Extract<RopeScaling, { kind: 'llama3' }>

/**
 * The angle by which each pair of a head's values turns from one position to the next; `headWidth / 2` of them. Pair i
 * consists of value i and value i + headWidth / 2.
 */
export function inverseFrequencies(shape: ModelShape): Float64Array {
  const { headWidth, ropeBase, ropeScaling } = shape
  const plain = Float64Array.from(
    { length: headWidth / 2 },
    (_, pair) => ropeBase ** ((-2 * pair) / headWidth),
  )
  switch (ropeScaling?.kind) {
    case undefined:
      return plain
    case 'linear':
      return plain.map((frequency) => frequency / ropeScaling.factor)
    case 'llama3':
      return plain.map((frequency) => llamaThreeFrequency(frequency, ropeScaling))
    case 'yarn':
      return yarnFrequencies(plain, shape, ropeScaling)
  }
}

/** What the cosines and sines are multiplied by; not 1 for YaRN only. */
export function rotationScale(shape: ModelShape): number {
  if (shape.ropeScaling?.kind !== 'yarn') return 1
  const { attentionFactor, factor } = shape.ropeScaling
  return attentionFactor ?? yarnAttentionFactor(factor, 1)
}

/** Attention over a stretched context is sharpened by its logarithm (YaRN, equation 22). */
export function yarnAttentionFactor(factor: number, weight: number): number {
  return factor <= 1 ? 1 : 0.1 * weight * Math.log(factor) + 1
}

/** Short waves stay, long ones are stretched, those between are blended by how often they fit the first context. */
function llamaThreeFrequency(frequency: number, scaling: LlamaThree): number {
  const { factor, lowFrequencyFactor, highFrequencyFactor, originalContext } = scaling
  const wavesInContext = (originalContext * frequency) / (2 * Math.PI)
  if (wavesInContext > highFrequencyFactor) return frequency
  if (wavesInContext < lowFrequencyFactor) return frequency / factor
  const share = (wavesInContext - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor)
  return (1 - share) * (frequency / factor) + share * frequency
}

/** As for Llama 3, but blended along the number of the pair, between two pairs found by their number of waves. */
function yarnFrequencies(plain: Float64Array, shape: ModelShape, scaling: Yarn): Float64Array {
  const { factor, betaFast, betaSlow, originalContext } = scaling
  const { headWidth, ropeBase } = shape
  const pairWithWaves = (waves: number) =>
    (headWidth * Math.log(originalContext / (waves * 2 * Math.PI))) / (2 * Math.log(ropeBase))
  const first = Math.max(Math.floor(pairWithWaves(betaFast)), 0)
  const last = Math.min(Math.ceil(pairWithWaves(betaSlow)), headWidth - 1)
  // Two equal ends would divide by zero; the reference moves one of them by as much.
  const length = last === first ? 0.001 : last - first
  return plain.map((frequency, pair) => {
    const stretched = Math.min(Math.max((pair - first) / length, 0), 1)
    return (1 - stretched) * frequency + (stretched * frequency) / factor
  })
}
