import { hashShingles, hashWords, scramble, WordBuffer } from '../../base/digests/index.ts'
import { isTrained } from '../../schema/index.ts'
import type { Examined } from './examine.ts'

/** Slots per signature. The estimate of a Jaccard similarity of 0.8 then has a standard deviation of 0.035. */
export const HASHES = 128

/** Which slot an empty one borrows from, attempt by attempt. */
const borrowOrder = Uint8Array.from(
  { length: HASHES * 64 },
  (_, index) => scramble(0x5bd1e995 + index) % HASHES,
)

/**
 * Computes a MinHash signature in one pass: hashes are assigned to slots by their high bits, and each slot keeps the
 * smallest. An empty slot borrows from another, chosen by its own index alone, so that two sets agree in a slot with
 * a probability equal to their Jaccard similarity (densified one-permutation hashing).
 */
export function minHash(set: Uint32Array, signature: Uint32Array): void {
  signature.fill(empty)
  let filled = 0
  for (let at = 0; at < set.length; at++) {
    const value = set[at]!
    const slot = value >>> 25
    if (signature[slot] === empty) filled++
    if (value < signature[slot]!) signature[slot] = value
  }
  if (filled === 0 || filled === HASHES) return
  const own = signature.slice()
  for (let slot = 0; slot < HASHES; slot++) {
    if (own[slot] === empty) signature[slot] = borrowed(own, slot)
  }
}

/** No hash has this value: it marks an empty slot. */
const empty = 0xffffffff

function borrowed(own: Uint32Array, slot: number): number {
  for (let attempt = 0; attempt < 64; attempt++) {
    const value = own[borrowOrder[slot * 64 + attempt]!]!
    if (value !== empty) return value
  }
  // Hardly any slot is filled: take the next one that is.
  for (let step = 1; ; step++) {
    const value = own[(slot + step) % HASHES]!
    if (value !== empty) return value
  }
}

/** The share of slots in which two signatures agree: an estimate of the Jaccard similarity. */
export function similarity(left: Uint32Array, right: Uint32Array): number {
  let same = 0
  for (let index = 0; index < HASHES; index++) if (left[index] === right[index]) same++
  return same / HASHES
}

/** Whether they agree in at least `needed` slots. Most pairs are ruled out early. */
export function agree(left: Uint32Array, right: Uint32Array, needed: number): boolean {
  let sparable = HASHES - needed
  for (let index = 0; index < HASHES; index++) {
    if (left[index] !== right[index] && --sparable < 0) return false
  }
  return true
}

/** Words per shingle. */
const SHINGLE = 5
/** Signatures per chunk: 2 MB. Memory grows in chunks, because growing one array would copy it all. */
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

  /** Based on the question and the trained spans: shared tool output does not make sequences similar. */
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
