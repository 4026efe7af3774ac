/**
 * Reads texts into one array of UTF-16 units that is used again and again. Loops that look at every character run
 * twice as fast over it as over a string, whose way of being stored has to be asked for at each step.
 */
export class UnitReader {
  #buffer = Buffer.alloc(0)
  #units = new Uint16Array(0)

  /** The units of a text, valid until the next call. */
  read(text: string): Uint16Array {
    if (this.#units.length < text.length) {
      this.#units = new Uint16Array(Math.max(4096, 2 * text.length))
      this.#buffer = Buffer.from(this.#units.buffer)
    }
    this.#buffer.write(text, 'utf16le')
    return this.#units.subarray(0, text.length)
  }
}

/** Back to a string of its own; for words, which are short. */
export function textOf(units: Uint16Array, start: number, end: number): string {
  return String.fromCharCode.apply(null, units.subarray(start, end) as unknown as number[])
}
