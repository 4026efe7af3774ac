import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { StoreError } from '../base/errors/index.ts'

/** The system calls used by append; tests replace them to simulate a full disk. */
export interface AppendCalls {
  write(fd: number, bytes: Uint8Array, offset: number, length: number): number
  truncate(fd: number, length: number): void
  sync(fd: number): void
}

const systemCalls: AppendCalls = {
  write: (fd, bytes, offset, length) => writeSync(fd, bytes, offset, length),
  truncate: ftruncateSync,
  sync: fdatasyncSync,
}

/** An append-only file. A failed append leaves the file as it was. */
export class AppendFile {
  readonly path: string
  readonly #fd: number
  readonly #calls: AppendCalls
  #size: number
  /** Set if a failed append could not be undone immediately. */
  #torn = false

  constructor(path: string, calls: AppendCalls = systemCalls) {
    this.path = path
    this.#calls = calls
    this.#fd = openSync(path, 'a')
    this.#size = fstatSync(this.#fd).size
  }

  /** Length of all complete appends. */
  get size(): number {
    return this.#size
  }

  /**
   * Returns the offset of the block. Once it returns, the block survives the end of this process; with `sync`, also a
   * power failure.
   */
  append(block: Uint8Array, sync = false): number {
    const start = this.#size
    if (this.#torn) this.#undo(start)
    try {
      let written = 0
      while (written < block.length) {
        written += this.#calls.write(this.#fd, block, written, block.length - written)
      }
      if (sync) this.#calls.sync(this.#fd)
    } catch (cause) {
      this.#torn = true
      try {
        this.#undo(start)
      } catch {
        // Report the first failure; the next append tries again to undo it.
      }
      throw this.#failed(cause)
    }
    this.#size = start + block.length
    return start
  }

  close(): void {
    closeSync(this.#fd)
  }

  #undo(length: number): void {
    try {
      this.#calls.truncate(this.#fd, length)
      this.#torn = false
    } catch (cause) {
      throw this.#failed(cause)
    }
  }

  #failed(cause: unknown): StoreError {
    const { code } = cause as NodeJS.ErrnoException
    const full = code === 'ENOSPC' || code === 'EDQUOT'
    return new StoreError(`cannot write to ${this.path}: ${full ? 'the disk is full' : String(cause)}`, {
      fix: full
        ? 'Free disk space and run the command again.'
        : 'Check the disk and the permissions of the folder.',
      cause,
      details: { path: this.path, code },
    })
  }
}
