import { hash } from 'node:crypto'
import { isTrained, type Stream, streamText } from '../schema/index.ts'

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
