import { existsSync, statSync } from 'node:fs'
import { z } from 'zod'
import { sha256OfFile } from '../../base/digests/index.ts'
import { type Run, readJsonLines, readSelection, type Selected, selectionFile } from '../../store/index.ts'

/** Sequences to export. They are gone through once for all formats, and again to check. */
export interface Dataset {
  entries: () => Iterable<Selected>
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

/** What the filter kept of a run, in its order; every sequence where it has not been filtered, or with `all`. */
export function openDataset(run: Run, options: { all?: boolean } = {}): Dataset {
  const kept = selectionFile(run.dir)
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
    entries: () => readSelection(run),
    total,
    source: { ...source, selection: 'filter', keptSha256 },
  }
}

function* everySequence(run: Run): Generator<Selected> {
  for (const sequence of run.scan('sequence')) yield { sequence, weight: 1 }
}
