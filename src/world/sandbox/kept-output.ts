import { StringDecoder } from 'node:string_decoder'

/** What may be written beyond the kept part before the program is stopped: some just print a lot. */
export const floodAllowance = 2 ** 20

/** The first bytes of a stream, and how many there were in all. */
export class KeptOutput {
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
    // At the limit the decoder holds back a character that was cut in half; toString would put a replacement.
    return this.#kept === this.#limit ? new StringDecoder('utf8').write(bytes) : bytes.toString('utf8')
  }
}
