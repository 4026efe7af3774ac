import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { makeSequence } from '../../test/filter/make-sequence.ts'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import { createRun } from './create-run.ts'
import { readSelection, selectionFile } from './selection.ts'
import { sequenceDigest } from './sequence-digest.ts'

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
