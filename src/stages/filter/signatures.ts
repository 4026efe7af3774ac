import { hashShingles, hashWords, WordBuffer } from '../../base/digests/index.ts'
import { isTrained } from '../../schema/index.ts'
import type { Examined } from './examine.ts'
import { HASHES, minHash } from './min-hash.ts'

/** Words of a shingle. */
const SHINGLE = 5
/** Signatures of a chunk: 2 MB. Memory grows by chunks, because growing one array would copy it all. */
const CHUNK = 4096

/** The MinHash signatures of the sequences seen so far, 512 bytes each: 0.5 GB for a million. */
export class Signatures {
  readonly #chunks: Uint32Array[] = []
  readonly #words = new WordBuffer()
  readonly #shingles = new WordBuffer()
  #size = 0

  get size(): number {
    return this.#size
  }

  at(index: number): Uint32Array {
    const start = (index % CHUNK) * HASHES
    return this.#chunks[Math.floor(index / CHUNK)]!.subarray(start, start + HASHES)
  }

  /** Of the question and what is trained on: tool output that two sequences share does not make them alike. */
  add({ question, sequence }: Pick<Examined, 'question' | 'sequence'>): void {
    this.#words.clear()
    hashWords(question, this.#words)
    for (const span of sequence.spans) if (isTrained(span)) hashWords(span.text, this.#words)
    this.#shingles.clear()
    hashShingles(this.#words.values, SHINGLE, this.#shingles)
    if (this.#size % CHUNK === 0) this.#chunks.push(new Uint32Array(CHUNK * HASHES))
    minHash(this.#shingles.values, this.at(this.#size++))
  }
}
