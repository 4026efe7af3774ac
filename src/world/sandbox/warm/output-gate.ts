import { floodAllowance } from '../kept-output.ts'
import { writeAll } from './child-side.ts'

/** How often a program may write on after it was told to stop, before it is stopped for good. */
const patience = 1000

/** A program's stdout or stderr inside a warm child: counts, cuts, and says when it is too much. */
export class OutputGate {
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

  get incorrigible(): boolean {
    return this.#refused > patience
  }

  /** False when the program should get an error instead of being able to go on. */
  write(bytes: Uint8Array): boolean {
    if (this.flooding) {
      this.#refused++
      return false
    }
    this.seen += bytes.length
    // One byte more than is kept: by it the pool knows that there was more, should this child be killed.
    const part = bytes.subarray(0, Math.max(0, this.#limit + 1 - this.sent))
    if (part.length > 0) writeAll(this.#descriptor, part)
    this.sent += part.length
    return true
  }
}
