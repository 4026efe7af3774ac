import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { sha256OfFile } from '../../base/digests/index.ts'
import { UsageError } from '../../base/errors/index.ts'
import type { CoaSequence } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'
import { readJsonLines } from './json-lines.ts'

/** A sequence and how many times it is in the dataset. */
interface DatasetEntry {
  sequence: CoaSequence
  weight: number
}

/** Sequences to export. They are gone through once for all formats, and again to check. */
export interface Dataset {
  entries: () => Iterable<DatasetEntry>
  /** How many entries there are. */
  total: number
  /** Tells this dataset from any other state of its source; plain data. */
  source: DatasetSource
}

export const DatasetSource = z.object({
  run: z.string(),
  /** `filter`: what the filter kept; `all`: every sequence of the run. */
  selection: z.enum(['filter', 'all']),
  sequences: z.number().int(),
  /** The log is only ever appended to, so its length tells its states apart. */
  logBytes: z.number().int(),
  keptSha256: z.string().optional(),
})
export type DatasetSource = z.infer<typeof DatasetSource>

/** A line of what the filter keeps. */
const Kept = z.object({ id: z.string(), weight: z.number().int().nonnegative().default(1) })

/** What the filter kept of a run, in its order; every sequence where it has not been filtered, or with `all`. */
export function openDataset(run: Run, options: { all?: boolean } = {}): Dataset {
  const kept = join(run.dir, 'filter', 'kept.jsonl')
  const source = { run: run.id, sequences: run.count('sequence'), logBytes: statSync(run.files.events).size }
  if (options.all === true || !existsSync(kept)) {
    return {
      entries: () => everySequence(run),
      total: source.sequences,
      source: { ...source, selection: 'all' },
    }
  }
  let total = 0
  for (const _line of readJsonLines(kept)) total += 1
  const keptSha256 = sha256OfFile(kept)
  return {
    entries: () => keptSequences(run, kept),
    total,
    source: { ...source, selection: 'filter', keptSha256 },
  }
}

function* everySequence(run: Run): Generator<DatasetEntry> {
  for (const sequence of run.scan('sequence')) yield { sequence, weight: 1 }
}

function* keptSequences(run: Run, file: string): Generator<DatasetEntry> {
  for (const { number, value } of readJsonLines(file)) {
    const kept = Kept.safeParse(value)
    if (!kept.success) {
      throw new UsageError(`${file}:${number} is not {"id", "weight"}: ${kept.error.issues[0]?.message}`, {
        fix: 'Weights are whole numbers. Filter the run again.',
      })
    }
    const { id, weight } = kept.data
    if (weight === 0) continue
    const sequence = run.get('sequence', id)
    if (sequence === undefined) {
      throw new UsageError(`${file}:${number} names the sequence "${id}", which the run does not have`, {
        fix: 'Filter the run again, or export every sequence with --all.',
      })
    }
    yield { sequence, weight }
  }
}
