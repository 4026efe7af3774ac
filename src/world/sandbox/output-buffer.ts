import { StringDecoder } from 'node:string_decoder'

/** How much may be written beyond the limit before the program is stopped: some programs just print a lot. */
export const floodAllowance = 2 ** 20

/** The first bytes of a stream, and the total number of bytes. */
export class OutputBuffer {
  readonly #limit: number
  readonly #chunks: Buffer[] = []
  #kept = 0
  seen = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  push(chunk: Buffer): void {
    this.seen += chunk.length
    const room = this.#limit - this.#kept
    if (room <= 0) return
    const part = chunk.subarray(0, room)
    this.#chunks.push(part)
    this.#kept += part.length
  }

  get truncated(): boolean {
    return this.seen > this.#limit
  }

  get flooding(): boolean {
    return this.seen > this.#limit + floodAllowance
  }

  text(): string {
    const bytes = Buffer.concat(this.#chunks)
    // At the limit, StringDecoder drops a split character; toString would insert a replacement character.
    return this.#kept === this.#limit ? new StringDecoder('utf8').write(bytes) : bytes.toString('utf8')
  }
}
