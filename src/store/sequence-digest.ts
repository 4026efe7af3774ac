import { hash } from 'node:crypto'
import { isTrained, type Stream, streamText } from '../schema/index.ts'

/** What a sequence says and how it was judged, in 48 bits: enough to notice that a record has changed. */
export function sequenceDigest(sequence: Stream): string {
  const { grammar, verdict, provenance, meta, prompt, spans } = sequence
  let shape = JSON.stringify([grammar, verdict, provenance, meta])
  for (const span of spans) shape += `\0${span.agent}\0${span.text.length}\0${isTrained(span)}`
  // Each text on its own: joined with one that is not Latin, all of it would take twice the time.
  for (const { role, content } of prompt) shape += `\0${role}\0${hash('sha1', content)}`
  // A longer slice would keep the whole string alive behind it.
  return hash('sha1', `${shape}\0${hash('sha1', streamText(sequence))}`).slice(0, 12)
}
