import { expect, it } from 'vitest'
import { makeSequence } from '../../test/filter/make-sequence.ts'
import type { Stream } from '../schema/index.ts'
import { sequenceDigest } from './sequence-digest.ts'

it('changes with everything that a decision or training depends on', () => {
  const one = makeSequence()
  const span = (index: number, change: Partial<Stream['spans'][number]>): Partial<Stream> => ({
    spans: one.spans.with(index, { ...one.spans[index]!, ...change }),
  })
  const { text } = one.spans[4]!
  const changes: Partial<Stream>[] = [
    { verdict: { ...one.verdict!, outcome: 'wrong' } },
    { provenance: { ...one.provenance!, sawGold: true } },
    { meta: { suite: 'other' } },
    { grammar: 'multihop' },
    { prompt: one.prompt.slice(1) },
    span(3, { text: `${one.spans[3]!.text}\n` }),
    span(4, { kind: 'role' }),
    // A newline that moves from one span to the next changes the mask.
    {
      spans: one.spans
        .with(3, { ...one.spans[3]!, text: one.spans[3]!.text + text[0] })
        .with(4, { ...one.spans[4]!, text: text.slice(1) }),
    },
  ]
  const digests = changes.map((change) => sequenceDigest({ ...one, ...change }))
  expect(new Set([...digests, sequenceDigest(one)]).size).toBe(changes.length + 1)
  expect(sequenceDigest(structuredClone(one))).toBe(sequenceDigest(one))
})
