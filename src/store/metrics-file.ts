import { closeSync, existsSync, fstatSync, openSync } from 'node:fs'
import { StoreError } from '../base/errors/index.ts'
import { AppendFile } from './append-file.ts'
import { parseJsonObject } from './envelope.ts'
import { readLines } from './line-reader.ts'
import { SEAL_FIELD, sealJson, sealOfJson } from './seal.ts'

/** One line of metrics.jsonl: what a stage measured at one moment. */
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
          fix: 'Give metrics as numbers, strings, booleans or null.',
        })
      }
    }
    this.#file.append(Buffer.from(sealJson(JSON.stringify({ t: Date.now(), ...row }, keepNonFinite))))
  }

  close(): void {
    this.#file.close()
  }
}

/** A diverged loss must stay visible; JSON has no NaN or Infinity, so they are written as these words. */
function keepNonFinite(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
}

export function isMetricLine(bytes: Uint8Array): boolean {
  return readRow(bytes) !== undefined
}

/** Rows of an older coa have no checksum. */
function readRow(bytes: Uint8Array): MetricRow | undefined {
  const seal = sealOfJson(bytes)
  const value = seal === 'broken' ? undefined : parseJsonObject(bytes)
  if (value === undefined || seal === 'absent') return value as MetricRow | undefined
  const { [SEAL_FIELD]: _, ...row } = value
  return row as MetricRow
}

/** The rows so far, in order. Damaged lines are skipped and, if asked for, told. */
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
