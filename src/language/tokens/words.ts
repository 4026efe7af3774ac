import type { ModelJson } from './tokenizer-json.ts'

/** The tokens of one pre-token; positions are UTF-16 units within it. */
export interface WordTokens {
  readonly ids: readonly number[]
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

/** What every word model needs. */
export interface WordModel {
  readonly model: ModelJson
  /** What text can be encoded to: the model's vocabulary without its control tokens. */
  readonly vocabulary: ReadonlyMap<string, number>
  /** The unknown token. */
  readonly unknown: number | undefined
}

export type EncodeWord = (word: string) => WordTokens

/** Collects the tokens of a word. */
export class WordBuilder implements WordTokens {
  readonly ids: number[] = []
  readonly starts: number[] = []
  readonly ends: number[] = []

  push(id: number, start: number, end: number): void {
    this.ids.push(id)
    this.starts.push(start)
    this.ends.push(end)
  }

  /** Extends the last token if it is the same unknown token and adjacent. */
  pushFused(id: number, start: number, end: number): void {
    const last = this.ids.length - 1
    if (this.ids[last] === id && this.ends[last] === start) this.ends[last] = end
    else this.push(id, start, end)
  }
}
