import { TokenizerError } from '../../base/errors/index.ts'

/** A region of the stream; regions are contiguous. */
export interface Region {
  /** Length in UTF-16 units; 0 is allowed and never owns a token. */
  length: number
  trainable: boolean
}

export interface TokenMask {
  /** 1 for tokens with loss. */
  mask: Uint8Array
  /** The region of each token: that of its first character; -1 if there is no text. */
  spanOf: Int32Array
  /** Tokens that contain both trainable and other text. They are masked. */
  straddling: number
}

/**
 * Converts character offsets to a token mask in one pass. A token that overlaps any character of a non-trainable
 * region is masked; every other token gets a loss. A token without width (a control token around the text) belongs to
 * the character that follows it, or to the last one at the end of the text. A dummy prefix needs no special rule: its
 * offsets are those of the following character.
 */
export function maskFromOffsets(
  starts: ArrayLike<number>,
  ends: ArrayLike<number>,
  regions: readonly Region[],
): TokenMask {
  const filled = regions.map((region, index) => ({ ...region, index })).filter((region) => region.length > 0)
  const count = filled.length
  const regionStarts = new Int32Array(count)
  const regionEnds = new Int32Array(count)
  let total = 0
  filled.forEach((region, index) => {
    regionStarts[index] = total
    total += region.length
    regionEnds[index] = total
  })
  // Start of the next region of either kind, at or after each region: then overlap is a single comparison.
  const nextTrained = new Int32Array(count + 1).fill(total + 1)
  const nextFrozen = new Int32Array(count + 1).fill(total + 1)
  for (let index = count - 1; index >= 0; index--) {
    const start = regionStarts[index]!
    nextTrained[index] = filled[index]!.trainable ? start : nextTrained[index + 1]!
    nextFrozen[index] = filled[index]!.trainable ? nextFrozen[index + 1]! : start
  }

  const mask = new Uint8Array(starts.length)
  const spanOf = new Int32Array(starts.length).fill(-1)
  let straddling = 0
  let token = 0
  for (let region = 0; region < count; region++) {
    const { index, trainable } = filled[region]!
    const last = region === count - 1
    const regionEnd = regionEnds[region]!
    // Starts are non-decreasing, so the tokens of a region are one contiguous run.
    const next = last ? starts.length : firstAtOrAfter(starts, regionEnd, token)
    spanOf.fill(index, token, next)
    if (trainable) mask.fill(1, token, next)
    // So are ends: only tokens at the end of the run can extend beyond the region.
    for (let at = next - 1; at >= token && reach(starts, ends, at, total) > regionEnd; at--) {
      const end = reach(starts, ends, at, total)
      if (end > total) throw beyond(end, total)
      const frozen = nextFrozen[region]! < end
      mask[at] = frozen ? 0 : 1
      if (frozen && nextTrained[region]! < end) straddling++
    }
    token = next
  }
  return { mask, spanOf, straddling }
}

/** The end of a token's characters. A token without width extends to the character it belongs to. */
function reach(starts: ArrayLike<number>, ends: ArrayLike<number>, token: number, total: number): number {
  return Math.max(ends[token]!, Math.min(starts[token]! + 1, total))
}

/** The first token from `from` on that starts at or after a position. */
function firstAtOrAfter(starts: ArrayLike<number>, position: number, from: number): number {
  let low = from
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (starts[middle]! < position) low = middle + 1
    else high = middle
  }
  return low
}

function beyond(end: number, total: number): TokenizerError {
  return new TokenizerError(`A token ends at ${end}, after the ${total} characters of its spans.`, {
    fix: 'Pass the offsets for the joined text of the spans.',
  })
}
