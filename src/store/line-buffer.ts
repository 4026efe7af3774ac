import { sealField } from './seal.ts'

/**
 * Gathers lines into one block to be written at once. The memory is kept from block to block: a new buffer for
 * every line or block would pile up outside the heap faster than it is collected.
 */
export class LineBuffer {
  /** A block beyond this is not worth keeping the memory for. */
  static readonly #KEPT_BYTES = 4 * 1024 * 1024
  #bytes = Buffer.allocUnsafe(64 * 1024)
  #length = 0

  clear(): void {
    this.#length = 0
    if (this.#bytes.length > LineBuffer.#KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(64 * 1024)
  }

  /** Returns the number of bytes that the text takes. */
  add(text: string): number {
    // Three bytes are the most that a UTF-16 unit takes in UTF-8.
    this.#ensure(this.#length + text.length * 3)
    const written = this.#bytes.write(text, this.#length)
    this.#length += written
    return written
  }

  /** Ends a line that was added open, up to its closing brace, with its checksum. Returns the bytes of the whole line. */
  addSealed(open: string): number {
    const start = this.#length
    this.add(open)
    this.add(`${sealField(this.#bytes.subarray(start, this.#length))}\n`)
    return this.#length - start
  }

  /** What was gathered; valid until the next change. */
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
