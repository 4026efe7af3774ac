import { closeSync, fsyncSync, openSync, writeFileSync } from 'node:fs'

const BUFFERED_CHARACTERS = 1 << 18

/** Writes many short texts to a new file, buffering a few hundred kilobytes at a time. */
export class LineWriter {
  #file: number | undefined
  #pending: string[] = []
  #characters = 0

  constructor(path: string) {
    this.#file = openSync(path, 'w')
  }

  /** The text must include its line ending. */
  write(text: string): void {
    this.#pending.push(text)
    this.#characters += text.length
    if (this.#characters >= BUFFERED_CHARACTERS) this.#flush()
  }

  /** Flushes, syncs and closes the file. */
  finish(): void {
    this.#flush()
    fsyncSync(this.#file!)
    this.abandon()
  }

  /** Closes the file without flushing. */
  abandon(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  #flush(): void {
    writeFileSync(this.#file!, this.#pending.join(''))
    this.#pending = []
    this.#characters = 0
  }
}
