import { TokenizerError } from '../../base/errors/index.ts'

/** A stretch of the stream; regions follow one another without gaps. */
export interface Region {
  /** Length in UTF-16 units; 0 is allowed and never owns a token. */
  length: number
  trainable: boolean
}

export interface TokenMask {
  /** 1 where the token is trained on. */
  mask: Uint8Array
  /** The region each token belongs to: that of its first character; -1 where there is no text. */
  spanOf: Int32Array
  /** Tokens that hold both trainable and other text. They are masked. */
  straddling: number
}

/**
 * Character offsets to a token mask, in one pass. A token that overlaps any character of a region that is not
 * trainable is masked; every other token is trained on. A token without width (a control token around the text)
 * belongs to the character that follows it, at the end of the text to the last one. A dummy prefix needs no rule
 * of its own: its offsets are those of the character it stands before.
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
  // Where the next region of either kind begins, at or after each region: overlap is then one comparison.
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
    // Starts do not fall, so the tokens of a region are one run, found and filled as a whole.
    const next = last ? starts.length : firstAtOrAfter(starts, regionEnd, token)
    spanOf.fill(index, token, next)
    if (trainable) mask.fill(1, token, next)
    // Nor do ends: only tokens at the end of the run can reach beyond the region.
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

/** Where a token's characters end. A token without width reaches as far as the character it belongs to. */
function reach(starts: ArrayLike<number>, ends: ArrayLike<number>, token: number, total: number): number {
  return Math.max(ends[token]!, Math.min(starts[token]! + 1, total))
}

/** The first token from `from` on that starts at or after a place. */
function firstAtOrAfter(starts: ArrayLike<number>, place: number, from: number): number {
  let low = from
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (starts[middle]! < place) low = middle + 1
    else high = middle
  }
  return low
}

function beyond(end: number, total: number): TokenizerError {
  return new TokenizerError(`A token ends at ${end}, after the ${total} characters of its spans.`, {
    fix: 'Pass the offsets of the text that the spans make up.',
  })
}
