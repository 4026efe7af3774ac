import { closeSync, fstatSync, openSync } from 'node:fs'
import { CoaError, UsageError } from '../base/errors/index.ts'
import { parseCheckedJson } from './checksum.ts'
import { readLines } from './line-reader.ts'

const REGENERATE = 'Regenerate the file with the command that wrote it.'

/** Reads the values of a JSON Lines file one at a time. An incomplete last line is an error. */
export function* readJsonLines(path: string): Generator<{ number: number; value: unknown }> {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (cause) {
    throw new UsageError(`cannot read ${path}: ${(cause as Error).message}`, {
      fix: REGENERATE,
      cause,
    })
  }
  try {
    const { size } = fstatSync(file)
    let number = 0
    let read = 0
    for (const line of readLines(file, 0, size)) {
      number += 1
      read = line.offset + line.length
      const bytes = Buffer.from(line.bytes ?? [])
      if (bytes.toString('utf8').trim() === '') continue
      yield { number, value: parsed(bytes, `${path}:${number}`) }
    }
    if (read < size) throw broken(`${path}:${number + 1}`, 'the line is incomplete')
  } finally {
    closeSync(file)
  }
}

function parsed(bytes: Buffer, where: string): unknown {
  try {
    return parseCheckedJson(bytes, where, REGENERATE)
  } catch (cause) {
    if (CoaError.isInstance(cause)) throw cause
    throw broken(where, (cause as Error).message)
  }
}

function broken(where: string, why: string): UsageError {
  return new UsageError(`${where} is not JSON: ${why}`, { fix: REGENERATE })
}
