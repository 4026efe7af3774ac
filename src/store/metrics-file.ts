import { closeSync, existsSync, fstatSync, openSync } from 'node:fs'
import { StoreError } from '../base/errors/index.ts'
import { AppendFile } from './append-file.ts'
import { CHECKSUM_FIELD, jsonChecksumState, withJsonChecksum } from './checksum.ts'
import { parseJsonObject } from './envelope.ts'
import { readLines } from './line-reader.ts'

/** One line of metrics.jsonl. */
export type MetricRow = Record<string, number | string | boolean | null>

/** Appends rows to metrics.jsonl. */
export class MetricsWriter {
  readonly #file: AppendFile

  constructor(path: string) {
    this.#file = new AppendFile(path)
  }

  append(row: MetricRow): void {
    for (const [name, value] of Object.entries(row)) {
      if (value !== null && !['number', 'string', 'boolean'].includes(typeof value)) {
        throw new StoreError(`metric ${name} is a ${typeof value}`, {
          fix: 'Metrics must be numbers, strings, booleans or null.',
        })
      }
    }
    this.#file.append(Buffer.from(withJsonChecksum(JSON.stringify({ t: Date.now(), ...row }, keepNonFinite))))
  }

  close(): void {
    this.#file.close()
  }
}

/** A diverged loss must stay visible. JSON has no NaN or Infinity, so they are written as strings. */
function keepNonFinite(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
}

export function isMetricLine(bytes: Uint8Array): boolean {
  return readRow(bytes) !== undefined
}

/** Rows from older versions have no checksum. */
function readRow(bytes: Uint8Array): MetricRow | undefined {
  const checksumState = jsonChecksumState(bytes)
  const value = checksumState === 'broken' ? undefined : parseJsonObject(bytes)
  if (value === undefined || checksumState === 'absent') return value as MetricRow | undefined
  const { [CHECKSUM_FIELD]: _, ...row } = value
  return row as MetricRow
}

/** Reads the rows in order. Damaged lines are skipped and reported to `onDamage`. */
export function* readMetrics(
  path: string,
  onDamage?: (damage: { line: number; offset: number }) => void,
): Generator<MetricRow> {
  if (!existsSync(path)) return
  const fd = openSync(path, 'r')
  try {
    let line = 0
    for (const { offset, bytes } of readLines(fd, 0, fstatSync(fd).size)) {
      line += 1
      const row = bytes === undefined ? undefined : readRow(bytes)
      if (row !== undefined) yield row
      else onDamage?.({ line, offset })
    }
  } finally {
    closeSync(fd)
  }
}
