import { Buffer } from 'node:buffer'

/**
 * What passes between the pool and a warm child, as JSON after a length, on a descriptor of its own. The output of
 * a program goes over the child's stdout and stderr as raw bytes; the answer says how many to expect, so nothing
 * that a program prints can be taken for a message.
 */
export interface ChildRequest {
  /** Chosen afresh for each run; an answer without it is not an answer. */
  token: string
  code: string
  stdin: string
  files: Record<string, string>
  memoryMb: number
  outputBytes: number
  fileBytes: number
  cpuMs: number
  wallMs: number
}

export interface ChildAnswer {
  token: string
  exit: number | null
  signal?: string
  /** The limit it passed, if it did. */
  late?: 'cpu' | 'wall' | undefined
  truncated: boolean
  outOfMemory: boolean
  stdoutBytes: number
  stderrBytes: number
  /** The child cannot promise a clean next run. */
  spent: boolean
  /** Memory that the child's interpreter holds and cannot give back. */
  heapBytes: number
}

/** The first thing a child says. */
export interface ChildReady {
  ready: true
  version: string
}

export const messageDescriptor = 3

export function frame(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message), 'utf8')
  const head = Buffer.alloc(4)
  head.writeUInt32LE(body.length)
  return Buffer.concat([head, body])
}

/** Collects bytes and gives back whole messages. */
export class FrameReader {
  #pending = Buffer.alloc(0)

  push(chunk: Buffer): unknown[] {
    this.#pending = Buffer.concat([this.#pending, chunk])
    const messages: unknown[] = []
    while (this.#pending.length >= 4) {
      const length = this.#pending.readUInt32LE(0)
      if (this.#pending.length < 4 + length) break
      messages.push(JSON.parse(this.#pending.toString('utf8', 4, 4 + length)))
      this.#pending = this.#pending.subarray(4 + length)
    }
    return messages
  }
}
