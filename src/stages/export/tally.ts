import type { EncodedStream } from '../../language/tokens/index.ts'
import type { Stream } from '../../schema/index.ts'
import type { ExportCounts, LeftOut } from './manifest.ts'
import { countCharacters, readingOf } from './segments.ts'

const EXAMPLES = 5

/** Counts of one export. */
export class Tally {
  readonly counts: ExportCounts = {
    sequences: 0,
    rows: 0,
    leftOut: 0,
    tokens: { prompt: 0, trained: 0, masked: 0 },
    characters: { trained: 0, masked: 0 },
    controlTokens: 0,
  }
  readonly leftOut: LeftOut = {}

  leaveOut(id: string, reason: string): void {
    this.counts.leftOut += 1
    this.leftOut[reason] ??= { count: 0, examples: [] }
    const known = this.leftOut[reason]
    known.count += 1
    if (known.examples.length < EXAMPLES) known.examples.push(id)
  }

  add(sequence: Stream, rows: number, encoded: EncodedStream | undefined, control: boolean): void {
    const { counts } = this
    counts.sequences += 1
    counts.rows += rows
    if (control) counts.controlTokens += 1
    const { trained, masked } = countCharacters(readingOf(sequence))
    counts.characters.trained += rows * trained
    counts.characters.masked += rows * masked
    if (encoded === undefined) return
    const bits = encoded.mask.reduce((sum, bit) => sum + bit, 0)
    counts.tokens.trained += rows * bits
    counts.tokens.prompt += rows * encoded.promptLength
    counts.tokens.masked += rows * (encoded.ids.length - encoded.promptLength - bits)
  }
}
