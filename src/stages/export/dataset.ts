import { existsSync, statSync } from 'node:fs'
import { z } from 'zod'
import { sha256OfFile } from '../../base/digests/index.ts'
import { type Run, readJsonLines, readSelection, type Selected, selectionFile } from '../../store/index.ts'

/** Sequences to export: read once for all formats, and again for a check. */
export interface Dataset {
  entries: () => Iterable<Selected>
  total: number
  /** Identifies this state of the source; plain data. */
  source: DatasetSource
}

export const DatasetSource = z.object({
  run: z.string(),
  /** `filter`: what the filter kept; `all`: every sequence of the run. */
  selection: z.enum(['filter', 'all']),
  sequences: z.number().int(),
  /** The log is append-only, so its length identifies its state. */
  logBytes: z.number().int(),
  keptSha256: z.string().optional(),
})
export type DatasetSource = z.infer<typeof DatasetSource>

/** The sequences the filter kept, in order; every sequence if the run is unfiltered, or with `all`. */
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
