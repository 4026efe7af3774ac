import type { Loss } from '../contract.ts'

/** How a server reduces the terms of a pass. Lengths are those of the input, including the prompt. */
export type Reduction =
  | 'sum'
  | 'mean of sequences'
  | 'sum of sequence means'
  | 'mean of sequence means'
  | 'mean of tokens'

/** How a server treats losses, as measured by the probe. */
export interface LossContract {
  /** Cross-entropy is a plain sum, and the scale of the weights is preserved. */
  crossEntropyIsSum: boolean
  /** The reduction of terms with advantages; undefined if the scale of the advantages is lost. */
  advantages: Reduction | undefined
  /** Two passes before a step give the sum of their gradients. */
  passesAdd: boolean
  /** The clipped loss respects the given ratio bounds. */
  clips: boolean
  dualClip: boolean
  /** Gradients can be clipped to a given norm. */
  clipsGradient: boolean
  /** Training requests are idempotent: one sent twice is run once. */
  repeatsSafely: boolean
}

/** Guaranteed by PROTOCOL.md and checked by the contract tests. */
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
 * How a loss is sent to a server so that the gradient is that of the plain sum:
 * - `direct`: unchanged;
 * - `derivatives`: a forward pass first, then the derivative of the loss in each log-probability, as an advantage;
 * - `derivatives at the step`: the same, but deferred until the number of sequences in the step is known.
 */
export type Route = 'direct' | 'derivatives' | 'derivatives at the step'

export function routeOf(contract: LossContract, loss: Loss): Route | { unsupported: string } {
  const direct =
    contract.passesAdd &&
    (loss.kind === 'cross-entropy'
      ? contract.crossEntropyIsSum
      : contract.advantages === 'sum' && contract.clips && (loss.dualClip === undefined || contract.dualClip))
  if (direct) return 'direct'
  const { advantages } = contract
  if (advantages === undefined)
    return {
      unsupported:
        'the server neither sums losses nor preserves the scale of advantages, so the loss cannot be corrected',
    }
  return advantages === 'sum' && contract.passesAdd ? 'derivatives' : 'derivatives at the step'
}

/** Factors for each sequence's advantages that turn the server's reduction into a sum. */
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

/** Describes for users what was measured and how it is handled. */
export function describeContract(contract: LossContract): string[] {
  const { advantages, passesAdd } = contract
  const lines = [
    contract.crossEntropyIsSum
      ? 'cross-entropy is a sum'
      : 'cross-entropy is averaged or loses the scale of its weights: sent as advantages instead',
    advantages === undefined ? 'the scale of advantages is lost' : `terms with advantages: ${advantages}`,
    contract.clips ? 'ratio bounds are respected' : 'ratio bounds are not respected: clipped by the client',
    contract.dualClip ? 'dual clip' : 'no dual clip: clipped by the client',
  ]
  if (!passesAdd) lines.push('passes before a step are averaged: deferred and sent as one')
  if (!contract.clipsGradient) lines.push('gradient clipping is not supported: maxNorm is rejected')
  if (!contract.repeatsSafely)
    lines.push('training requests are not idempotent: a broken connection aborts the step')
  return lines
}
