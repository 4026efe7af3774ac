import { TokenizerError } from '../errors/index.ts'

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
  const regionIndex = Int32Array.from(filled, (region) => region.index)
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
  let region = 0
  for (let token = 0; token < starts.length; token++) {
    const start = starts[token]!
    const end = ends[token]!
    if (end > total) {
      throw new TokenizerError(`A token ends at ${end}, after the ${total} characters of its spans.`, {
        fix: 'Pass the offsets of the text that the spans make up.',
      })
    }
    while (region < count - 1 && regionEnds[region]! <= start) region++
    if (count === 0) continue
    spanOf[token] = regionIndex[region]!
    // Its own region counts even for a token without width.
    const last = Math.max(end, regionStarts[region]! + 1)
    const frozen = nextFrozen[region]! < last
    if (!frozen) mask[token] = 1
    else if (nextTrained[region]! < last) straddling++
  }
  return { mask, spanOf, straddling }
}
