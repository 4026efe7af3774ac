import { hash } from 'node:crypto'
import { type CoaSequence, sequenceText } from '../schema/index.ts'

/** A 48-bit digest of a sequence's content and verdict: enough to notice that a record has changed. */
export function sequenceDigest(sequence: CoaSequence): string {
  const { grammar, verdict, provenance, meta, prompt, spans } = sequence
  let shape = JSON.stringify([grammar, verdict, provenance, meta])
  for (const { agent, text, trainable } of spans) shape += `\0${agent}\0${text.length}\0${trainable}`
  // Hashed separately: joined with a non-Latin text, everything would take twice as long.
  for (const { role, content } of prompt) shape += `\0${role}\0${hash('sha1', content)}`
  // A longer slice would keep the whole string in memory.
  return hash('sha1', `${shape}\0${hash('sha1', sequenceText(sequence))}`).slice(0, 12)
}
