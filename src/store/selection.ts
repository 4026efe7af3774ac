import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { StoreError } from '../base/errors/index.ts'
import { isTrained, Selection, type Stream, streamText } from '../schema/index.ts'
import { readJsonLines } from './json-lines.ts'
import type { Run } from './run.ts'

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

/** A 48-bit digest of a sequence's content and verdict: enough to notice that a record has changed. */
export function sequenceDigest(sequence: Stream): string {
  const { grammar, verdict, provenance, meta, prompt, spans } = sequence
  let shape = JSON.stringify([grammar, verdict, provenance, meta])
  for (const span of spans) shape += `\0${span.agent}\0${span.text.length}\0${isTrained(span)}`
  // Hashed separately: joined with a non-Latin text, everything would take twice as long.
  for (const { role, content } of prompt) shape += `\0${role}\0${hash('sha1', content)}`
  // A longer slice would keep the whole string in memory.
  return hash('sha1', `${shape}\0${hash('sha1', streamText(sequence))}`).slice(0, 12)
}
