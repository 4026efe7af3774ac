import type { Sample } from '../engine/index.ts'
import type { Rollout, RolloutSegment } from '../schema/index.ts'

type Segment = Rollout['segments'][number]

/** What the model sees: the tokens of all segments in order, observations shortened where they had to be. */
export class Context {
  readonly segments: RolloutSegment[]

  constructor(prompt: ArrayLike<number>) {
    this.segments = [{ origin: 'prompt', tokens: Array.from(prompt) }]
  }

  /** Tokens as the model sees them now. */
  tokens(): number[] {
    return this.segments.flatMap(seen)
  }

  get length(): number {
    return this.segments.reduce((sum, segment) => sum + seen(segment).length, 0)
  }

  /** Tokens that entered after the prompt, whatever was shortened since. */
  get entered(): number {
    return this.segments.slice(1).reduce((sum, { tokens }) => sum + tokens.length, 0)
  }

  /** The first `count` tokens of a sample. What came after them is forgotten. */
  addSampled(
    sample: Pick<Sample, 'tokens' | 'logprobs' | 'modelLogprobs'>,
    count: number,
    plain: boolean,
  ): void {
    if (count === 0) return
    this.segments.push({
      origin: 'sampled',
      tokens: Array.from(sample.tokens.subarray(0, count)),
      logprobs: exact(sample.logprobs.subarray(0, count)),
      ...(plain ? {} : { modelLogprobs: exact(sample.modelLogprobs.subarray(0, count)) }),
    })
  }

  addInserted(tokens: ArrayLike<number>): void {
    this.segments.push({ origin: 'inserted', tokens: Array.from(tokens) })
  }

  /** The oldest observation that is still whole is replaced by something shorter. False where there is none. */
  shortenOldest(shorter: (segment: number) => readonly number[]): boolean {
    for (const [at, segment] of this.segments.entries()) {
      if (segment.origin !== 'inserted' || segment.shortened !== undefined) continue
      const tokens = [...shorter(at)]
      if (tokens.length >= segment.tokens.length) continue
      segment.shortened = { from: this.segments.length, tokens }
      return true
    }
    return false
  }
}

function seen(segment: Segment): readonly number[] {
  return segment.origin === 'inserted' && segment.shortened !== undefined
    ? segment.shortened.tokens
    : segment.tokens
}

/** Nine digits tell every 32-bit number from its neighbours, and take half the room of all digits. */
function exact(values: Float32Array): number[] {
  return Array.from(values, (value) => Number(value.toPrecision(9)))
}
