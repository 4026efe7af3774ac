/**
 * Where a word occurs: ascending row numbers, each with the word's weight in that row, as variable-length integers.
 * The first row is absolute and each other is relative to the previous one, so lists can be concatenated as bytes.
 */
export interface PostingList {
  /** Number of rows. */
  rows: number
  last: number
  data: Uint8Array
}

/** Collects the rows of one word while documents are read. */
export class PostingWriter {
  readonly #bytes: number[] = []
  #rows = 0
  #written = 0
  #row = 0
  #weight = 0

  /** Rows must be ascending; weights for the same row are added up. */
  add(row: number, weight: number): void {
    if (row !== this.#row) {
      this.#write()
      this.#row = row
    }
    this.#weight += weight
  }

  #write(): void {
    if (this.#weight === 0) return
    writeNumber(this.#bytes, this.#row - this.#written)
    writeNumber(this.#bytes, this.#weight)
    this.#written = this.#row
    this.#weight = 0
    this.#rows++
  }

  finish(): PostingList {
    this.#write()
    return { rows: this.#rows, last: this.#row, data: Uint8Array.from(this.#bytes) }
  }
}

function writeNumber(bytes: number[], value: number): void {
  let rest = value
  while (rest >= 128) {
    bytes.push((rest % 128) + 128)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
}

/** Calls `visit` with each row and weight. */
export function readPostings(data: Uint8Array, visit: (row: number, weight: number) => void): void {
  let at = 0
  let row = 0
  const { length } = data
  while (at < length) {
    let byte = data[at++]!
    let value = byte & 127
    for (let scale = 128; byte >= 128; scale *= 128) {
      byte = data[at++]!
      value += (byte & 127) * scale
    }
    row += value
    byte = data[at++]!
    let weight = byte & 127
    for (let scale = 128; byte >= 128; scale *= 128) {
      byte = data[at++]!
      weight += (byte & 127) * scale
    }
    visit(row, weight)
  }
}

/** Concatenates two lists; every row of the second must be above the last of the first. */
export function joinPostings(first: PostingList, second: PostingList): PostingList {
  let at = 0
  let row = 0
  for (let scale = 1; ; scale *= 128) {
    const byte = second.data[at++]!
    row += (byte & 127) * scale
    if (byte < 128) break
  }
  const joint: number[] = []
  writeNumber(joint, row - first.last)
  const data = new Uint8Array(first.data.length + joint.length + second.data.length - at)
  data.set(first.data)
  data.set(joint, first.data.length)
  data.set(second.data.subarray(at), first.data.length + joint.length)
  return { rows: first.rows + second.rows, last: second.last, data }
}
