/**
 * The worker's end of the protocol. All calls are synchronous, so that nothing of one run can be left in an event
 * loop.
 */
import { Buffer } from 'node:buffer'
import { readSync, writeSync } from 'node:fs'
import { frame, messageDescriptor, type WorkerRequest } from './protocol.ts'

const sleepCell = new Int32Array(new SharedArrayBuffer(4))

export function sleep(ms: number): void {
  Atomics.wait(sleepCell, 0, 0, ms)
}

export function writeAll(descriptor: number, bytes: Uint8Array): void {
  let written = 0
  while (written < bytes.length) {
    try {
      written += writeSync(descriptor, bytes, written)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      sleep(1)
    }
  }
}

export function sendMessage(message: unknown): void {
  writeAll(messageDescriptor, frame(message))
}

/** Undefined once the pool has closed its end. */
export function receiveRequest(): WorkerRequest | undefined {
  const head = readExactly(4)
  if (head === undefined) return undefined
  const body = readExactly(head.readUInt32LE(0))
  return body === undefined ? undefined : (JSON.parse(body.toString('utf8')) as WorkerRequest)
}

function readExactly(length: number): Buffer | undefined {
  const bytes = Buffer.alloc(length)
  let filled = 0
  while (filled < length) {
    try {
      const count = readSync(messageDescriptor, bytes, filled, length - filled, null)
      if (count === 0) return undefined
      filled += count
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return undefined
      sleep(1)
    }
  }
  return bytes
}
