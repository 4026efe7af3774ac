import type { ModelShape, RopeScaling } from './model-shape.ts'

type Yarn = Extract<RopeScaling, { kind: 'yarn' }>
type LlamaThree = Extract<RopeScaling, { kind: 'llama3' }>

/**
 * The rotation angle per position of each pair of a head's values; `headWidth / 2` of them. Pair i consists of value i
 * and value i + headWidth / 2.
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

/** Multiplier of the cosines and sines; 1 except for YaRN. */
export function ropeScale(shape: ModelShape): number {
  if (shape.ropeScaling?.kind !== 'yarn') return 1
  const { attentionFactor, factor } = shape.ropeScaling
  return attentionFactor ?? yarnAttentionFactor(factor, 1)
}

/** Attention temperature for an extended context (YaRN, equation 22). */
export function yarnAttentionFactor(factor: number, weight: number): number {
  return factor <= 1 ? 1 : 0.1 * weight * Math.log(factor) + 1
}

/** High frequencies stay, low ones are scaled, those in between are interpolated. */
function llamaThreeFrequency(frequency: number, scaling: LlamaThree): number {
  const { factor, lowFrequencyFactor, highFrequencyFactor, originalContext } = scaling
  const wavesInContext = (originalContext * frequency) / (2 * Math.PI)
  if (wavesInContext > highFrequencyFactor) return frequency
  if (wavesInContext < lowFrequencyFactor) return frequency / factor
  const share = (wavesInContext - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor)
  return (1 - share) * (frequency / factor) + share * frequency
}

/** Like Llama 3, but interpolated by pair index, between two pairs found by their number of rotations. */
function yarnFrequencies(plain: Float64Array, shape: ModelShape, scaling: Yarn): Float64Array {
  const { factor, betaFast, betaSlow, originalContext } = scaling
  const { headWidth, ropeBase } = shape
  const pairWithWaves = (waves: number) =>
    (headWidth * Math.log(originalContext / (waves * 2 * Math.PI))) / (2 * Math.log(ropeBase))
  const first = Math.max(Math.floor(pairWithWaves(betaFast)), 0)
  const last = Math.min(Math.ceil(pairWithWaves(betaSlow)), headWidth - 1)
  // Equal ends would divide by zero; the reference implementation offsets one by the same amount.
  const length = last === first ? 0.001 : last - first
  return plain.map((frequency, pair) => {
    const stretched = Math.min(Math.max((pair - first) / length, 0), 1)
    return (1 - stretched) * frequency + (stretched * frequency) / factor
  })
}
