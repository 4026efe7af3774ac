import { floodAllowance } from '../output-buffer.ts'
import { writeAll } from './child-io.ts'

/** How many failed writes are tolerated before the program is stopped. */
const maxRefusedWrites = 1000

/** A program's stdout or stderr inside a worker: counts, truncates, and detects flooding. */
export class LimitedOutput {
  readonly #descriptor: number
  #limit = 0
  #refused = 0
  seen = 0
  sent = 0

  constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  open(limit: number): void {
    this.#limit = limit
    this.#refused = 0
    this.seen = 0
    this.sent = 0
  }

  get truncated(): boolean {
    return this.seen > this.#limit
  }

  get flooding(): boolean {
    return this.seen > this.#limit + floodAllowance
  }

  get ignoresErrors(): boolean {
    return this.#refused > maxRefusedWrites
  }

  /** Returns false if the program should get an error. */
  write(bytes: Uint8Array): boolean {
    if (this.flooding) {
      this.#refused++
      return false
    }
    this.seen += bytes.length
    // One byte more than is kept, so that the pool knows of more output if this worker is killed.
    const part = bytes.subarray(0, Math.max(0, this.#limit + 1 - this.sent))
    if (part.length > 0) writeAll(this.#descriptor, part)
    this.sent += part.length
    return true
  }
}
