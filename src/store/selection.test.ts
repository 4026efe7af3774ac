import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { makeSequence } from '../../test/filter/make-sequence.ts'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import type { Stream } from '../schema/index.ts'
import { createRun } from './create-run.ts'
import { readSelection, selectionFile, sequenceDigest } from './selection.ts'

it('reads lines with and without a version, and reports an invalid one', () => {
  using run = createRun(temporaryFolder(), { id: 'r', command: 'test', coa: '0.0.0' })
  const sequences = ['a', 'b'].map((id) => ({ ...makeSequence({}), id }))
  run.appendMany('sequence', sequences)
  const file = selectionFile(run.dir)
  mkdirSync(dirname(file))
  const [old, current] = sequences.map((sequence) => ({
    id: sequence.id,
    weight: 2,
    digest: sequenceDigest(sequence),
  }))
  writeFileSync(file, `${JSON.stringify(old)}\n${JSON.stringify({ v: 1, ...current })}\n`)
  expect([...readSelection(run)].map(({ sequence, weight }) => [sequence.id, weight])).toEqual([
    ['a', 2],
    ['b', 2],
  ])
  writeFileSync(file, readFileSync(file, 'utf8').replace('"v":1', '"v":2'))
  expect(() => [...readSelection(run)]).toThrow(/kept\.jsonl:2 is not a valid selection/)
})

it('has a digest that changes with everything that a decision or training depends on', () => {
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
