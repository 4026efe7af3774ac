import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { StoreError } from '../base/errors/index.ts'
import { Selection, type Stream } from '../schema/index.ts'
import { readJsonLines } from './json-lines.ts'
import type { Run } from './run.ts'
import { sequenceDigest } from './sequence-digest.ts'

export interface Selected {
  sequence: Stream
  /** How many times it is used per epoch. */
  weight: number
}

/** The file that lists the sequences kept by the filter. */
export function selectionFile(runDir: string): string {
  return join(runDir, 'filter', 'kept.jsonl')
}

/**
 * Yields the sequences that the filter kept, in log order, one at a time. Throws if a sequence has changed since it was selected.
 *
 * @example
 * import { openRun, readSelection } from 'chain-of-agents'
 *
 * using run = openRun('runs/my-run')
 * for (const { sequence, weight } of readSelection(run)) console.log(sequence.id, weight)
 */
export function* readSelection(run: Pick<Run, 'id' | 'dir' | 'get'>): Generator<Selected> {
  const file = selectionFile(run.dir)
  const fix = `Run \`coa filter ${run.id}\`.`
  if (!existsSync(file)) throw new StoreError(`run ${run.id} has not been filtered yet`, { fix })
  for (const { number, value } of readJsonLines(file)) {
    const line = Selection.safeParse(value)
    if (!line.success)
      throw new StoreError(`${file}:${number} is not a valid selection: ${line.error.issues[0]?.message}`, {
        fix,
      })
    const { id, weight, digest } = line.data
    const sequence = run.get('sequence', id)
    if (sequence === undefined)
      throw new StoreError(`the filter kept the sequence "${id}", which is missing from run ${run.id}`, {
        fix,
      })
    if (sequenceDigest(sequence) !== digest)
      throw new StoreError(`sequence ${id} of run ${run.id} has changed since it was filtered`, { fix })
    yield { sequence, weight }
  }
}
