import type { ModelJson } from './tokenizer-json.ts'

/** The tokens of one pre-token; positions are UTF-16 units within it. */
export interface WordTokens {
  readonly ids: readonly number[]
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

/** What every kind of model needs. */
export interface WordModel {
  readonly model: ModelJson
  /** What text may become: the model's vocabulary without its control tokens. */
  readonly vocabulary: ReadonlyMap<string, number>
  /** The token of what has no token. */
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

  /** Widens the last token when it is the same unknown token and touches this one. */
  pushFused(id: number, start: number, end: number): void {
    const last = this.ids.length - 1
    if (this.ids[last] === id && this.ends[last] === start) this.ends[last] = end
    else this.push(id, start, end)
  }
}
