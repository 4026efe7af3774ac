import { sha256 } from '../base/digests/index.ts'
import { type RecordKind, recordKinds } from '../schema/index.ts'

/** Location of a line in the log. */
export interface RecordLocation {
  offset: number
  /** In bytes, including the newline. */
  length: number
}

export interface IndexEntry extends RecordLocation {
  kind: RecordKind
  id: string
  seq: number
}

/** 104 bits of SHA-256 identify a kind and an id; collisions are practically impossible. */
export interface Identity {
  high: number
  low: number
}

export function identityOf(kind: RecordKind, id: string): Identity {
  const digest = sha256(`${kind}\0${id}`)
  return { high: Number.parseInt(digest.slice(0, 13), 16), low: Number.parseInt(digest.slice(13, 26), 16) }
}

/**
 * Entries to be added to the index, in log order, with fast lookup. They are stored as numbers in preallocated
 * arrays: tens of thousands of objects that live just long enough to be promoted to the old generation would multiply
 * the heap size.
 */
export class EntryBatch {
  readonly capacity: number
  readonly offsets: Float64Array
  readonly lengths: Float64Array
  readonly seqs: Float64Array
  readonly highs: Float64Array
  readonly lows: Float64Array
  readonly #kinds: Uint8Array
  /** 1 if a later entry has the same identity. */
  readonly #superseded: Uint8Array
  /** Open addressing: position + 1 of the latest entry of an identity, 0 for none. */
  readonly #slots: Int32Array
  #size = 0

  constructor(capacity: number) {
    this.capacity = capacity
    this.offsets = new Float64Array(capacity)
    this.lengths = new Float64Array(capacity)
    this.seqs = new Float64Array(capacity)
    this.highs = new Float64Array(capacity)
    this.lows = new Float64Array(capacity)
    this.#kinds = new Uint8Array(capacity)
    this.#superseded = new Uint8Array(capacity)
    this.#slots = new Int32Array(capacity * 2)
  }

  get size(): number {
    return this.#size
  }

  get full(): boolean {
    return this.#size >= this.capacity
  }

  /** Range of the entries in the log. */
  get start(): number {
    return this.offsets[0] ?? 0
  }

  get end(): number {
    return (this.offsets[this.#size - 1] ?? 0) + (this.lengths[this.#size - 1] ?? 0)
  }

  kindAt(position: number): RecordKind {
    return recordKinds[this.#kinds[position] ?? 0] as RecordKind
  }

  add({ kind, id, seq, offset, length }: IndexEntry): void {
    if (this.full) throw new RangeError('the batch is full')
    const identity = identityOf(kind, id)
    const position = this.#size++
    this.offsets[position] = offset
    this.lengths[position] = length
    this.seqs[position] = seq
    this.highs[position] = identity.high
    this.lows[position] = identity.low
    this.#kinds[position] = recordKinds.indexOf(kind)
    this.#superseded[position] = 0
    const slot = this.#slotOf(identity)
    const earlier = (this.#slots[slot] ?? 0) - 1
    if (earlier >= 0) this.#superseded[earlier] = 1
    this.#slots[slot] = position + 1
  }

  find(identity: Identity): RecordLocation | undefined {
    const position = (this.#slots[this.#slotOf(identity)] ?? 0) - 1
    if (position < 0) return undefined
    return { offset: this.offsets[position] ?? 0, length: this.lengths[position] ?? 0 }
  }

  /** Positions of the latest entry of every identity, in log order. */
  latest(): Uint32Array {
    const positions = new Uint32Array(this.#size)
    let count = 0
    for (let position = 0; position < this.#size; position++) {
      if (this.#superseded[position] === 0) positions[count++] = position
    }
    return positions.subarray(0, count)
  }

  clear(): void {
    this.#size = 0
    this.#slots.fill(0)
  }

  /** The slot of an identity, or the empty slot where it belongs. */
  #slotOf({ high, low }: Identity): number {
    const slots = this.#slots.length
    for (let slot = low % slots; ; slot = (slot + 1) % slots) {
      const position = (this.#slots[slot] ?? 0) - 1
      if (position < 0 || (this.highs[position] === high && this.lows[position] === low)) return slot
    }
  }
}
