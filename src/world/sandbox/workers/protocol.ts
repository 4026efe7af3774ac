import { Buffer } from 'node:buffer'

/**
 * Messages between the pool and a worker: length-prefixed JSON on a separate descriptor. A program's output goes
 * through the worker's stdout and stderr as raw bytes; the result says how many to expect, so nothing that a program
 * prints can be mistaken for a message.
 */
export interface WorkerRequest {
  /** Random for each run; a result without it is not accepted. */
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

export interface WorkerResult {
  token: string
  exit: number | null
  signal?: string
  /** The time limit that was exceeded, if any. */
  exceeded?: 'cpu' | 'wall' | undefined
  truncated: boolean
  outOfMemory: boolean
  stdoutBytes: number
  stderrBytes: number
  /** The worker cannot guarantee a clean next run. */
  tainted: boolean
  /** Memory that the worker's interpreter holds and cannot release. */
  heapBytes: number
}

/** The first message from a worker. */
export interface WorkerReady {
  ready: true
}

export const messageDescriptor = 3

export function frame(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message), 'utf8')
  const head = Buffer.alloc(4)
  head.writeUInt32LE(body.length)
  return Buffer.concat([head, body])
}

/** Collects bytes and returns complete messages. */
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
