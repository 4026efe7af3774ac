import { checksumField } from './checksum.ts'

/**
 * Collects lines into one block that is written at once. The memory is reused between blocks: a new buffer for every
 * line or block would accumulate outside the heap faster than it is collected.
 */
export class LineBuffer {
  /** Buffers larger than this are not kept. */
  static readonly #KEPT_BYTES = 4 * 1024 * 1024
  #bytes = Buffer.allocUnsafe(64 * 1024)
  #length = 0

  clear(): void {
    this.#length = 0
    if (this.#bytes.length > LineBuffer.#KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(64 * 1024)
  }

  /** Returns the encoded length in bytes. */
  add(text: string): number {
    // A UTF-16 unit takes at most three bytes in UTF-8.
    this.#ensure(this.#length + text.length * 3)
    const written = this.#bytes.write(text, this.#length)
    this.#length += written
    return written
  }

  /** Adds a JSON object, given without its closing brace, with its checksum. Returns the length of the whole line. */
  addWithChecksum(open: string): number {
    const start = this.#length
    this.add(open)
    this.add(`${checksumField(this.#bytes.subarray(start, this.#length))}\n`)
    return this.#length - start
  }

  /** The collected bytes; valid until the next change. */
  get block(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  #ensure(length: number): void {
    if (length <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(length, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}
