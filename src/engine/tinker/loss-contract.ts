import type { Loss } from '../contract.ts'

/** How a server adds up the terms of a pass. Lengths are those of the input, prompt included. */
export type Reduction =
  | 'sum'
  | 'mean of sequences'
  | 'sum of sequence means'
  | 'mean of sequence means'
  | 'mean of tokens'

/** What a server does with the losses it is given, as the probe measures it. */
export interface LossContract {
  /** True where cross-entropy is a plain sum and the scale of the weights survives. */
  crossEntropyIsSum: boolean
  /** How terms with advantages are added up; undefined where the scale of the advantages is lost. */
  advantages: Reduction | undefined
  /** True where two passes before a step give the sum of their gradients. */
  passesAdd: boolean
  /** True where the clipped loss keeps to the bounds of the ratio that it is given. */
  clips: boolean
  dualClip: boolean
  /** True where the gradient can be scaled down to a given length. */
  clipsGradient: boolean
  /** True where a training request that is sent twice is done once. */
  repeatsSafely: boolean
}

/** What PROTOCOL.md promises, and the contract suite checks. */
export const ourContract: LossContract = {
  crossEntropyIsSum: true,
  advantages: 'sum',
  passesAdd: true,
  clips: true,
  dualClip: true,
  clipsGradient: true,
  repeatsSafely: true,
}

/**
 * How a loss is put to a server so that the gradient is that of the plain sum:
 * - `direct`: as it is;
 * - `slopes`: a forward pass first, then the slope of the loss in each log-probability, as an advantage;
 * - `slopes at the step`: the same, held back until it is known how many sequences the step has.
 */
export type Route = 'direct' | 'slopes' | 'slopes at the step'

export function routeOf(contract: LossContract, loss: Loss): Route | { refused: string } {
  const direct =
    contract.passesAdd &&
    (loss.kind === 'cross-entropy'
      ? contract.crossEntropyIsSum
      : contract.advantages === 'sum' && contract.clips && (loss.dualClip === undefined || contract.dualClip))
  if (direct) return 'direct'
  const { advantages } = contract
  if (advantages === undefined)
    return {
      refused:
        'the server does not add losses up as a sum and loses the scale of advantages, so there is nothing to correct it with',
    }
  return advantages === 'sum' && contract.passesAdd ? 'slopes' : 'slopes at the step'
}

/** What advantages of each sequence of a pass are multiplied with, so that the server's reduction becomes a sum. */
export function corrections(reduction: Reduction, lengths: readonly number[]): number[] {
  const sequences = lengths.length
  const tokens = lengths.reduce((sum, length) => sum + length, 0)
  const factor: Record<Reduction, (length: number) => number> = {
    sum: () => 1,
    'mean of sequences': () => sequences,
    'sum of sequence means': (length) => length,
    'mean of sequence means': (length) => length * sequences,
    'mean of tokens': () => tokens,
  }
  return lengths.map(factor[reduction])
}

/** In words, for people: what was found and what is done about it. */
export function describeContract(contract: LossContract): string[] {
  const { advantages, passesAdd } = contract
  const lines = [
    contract.crossEntropyIsSum
      ? 'cross-entropy is a sum'
      : 'cross-entropy is divided or loses the scale of its weights: sent as advantages instead',
    advantages === undefined ? 'the scale of advantages is lost' : `terms with advantages: ${advantages}`,
    contract.clips ? 'the bounds of the ratio hold' : 'the bounds of the ratio do not hold: clipped here',
    contract.dualClip ? 'dual clip' : 'no dual clip: clipped here',
  ]
  if (!passesAdd) lines.push('passes before a step are averaged: held back and sent as one')
  if (!contract.clipsGradient) lines.push('the gradient cannot be scaled down: maxNorm is refused')
  if (!contract.repeatsSafely)
    lines.push('a training request sent twice is done twice: a broken connection ends the step')
  return lines
}
