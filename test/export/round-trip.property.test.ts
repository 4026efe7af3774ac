import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { byteTokenizer, encodeStream } from '../../src/language/tokens/index.ts'
import type { Stream } from '../../src/schema/index.ts'
import { formats } from '../../src/stages/export/index.ts'
import type { Reading } from '../../src/stages/export/segments.ts'
import { RUNS } from '../grammar/arbitraries.ts'
import { anySequence, exampleSequences, troubledSequences } from './support.ts'

/** Written independently of the exporters: each character of the stream with its flag. */
function flagged(spans: Stream['spans']): string {
  let flags = ''
  for (const { text, kind } of spans) flags += (kind !== 'observation' ? '1' : '0').repeat(text.length)
  return flags
}

function flaggedReading({ segments }: Reading): string {
  return segments.map(({ text, trained }) => (trained ? '1' : '0').repeat(text.length)).join('')
}

const throughFile = (row: unknown): Record<string, unknown> => JSON.parse(JSON.stringify(row)) as never

function expectSame(found: Reading, sequence: Stream, trainsAll: boolean): void {
  const text = sequence.spans.map((span) => span.text).join('')
  expect(found.segments.map((segment) => segment.text).join('')).toBe(text)
  expect(flaggedReading(found)).toBe(trainsAll ? '1'.repeat(text.length) : flagged(sequence.spans))
  expect(found.prompt).toEqual(sequence.prompt)
}

for (const format of formats.filter(({ carries }) => carries !== 'tasks')) {
  describe(format.name, () => {
    const known = [...exampleSequences(), ...troubledSequences()]
    if (format.carries === 'text') {
      const trainsAll = format.trainsObservations === true
      it('round-trips every chain that coa generates', () => {
        for (const sequence of known) {
          expect(format.refuse(sequence)).toBeUndefined()
          expectSame(format.fromRow(throughFile(format.toRow(sequence))), sequence, trainsAll)
        }
      })

      it('round-trips every sequence that it does not reject', () => {
        let taken = 0
        fc.assert(
          fc.property(anySequence, (sequence) => {
            if (format.refuse(sequence) !== undefined) return
            taken += 1
            expectSame(format.fromRow(throughFile(format.toRow(sequence))), sequence, trainsAll)
          }),
          { numRuns: RUNS },
        )
        expect(taken).toBeGreaterThan(RUNS / 20)
      })
    }
    if (format.carries === 'tokens') {
      it('round-trips ids and mask of every sequence', () => {
        const tokenizer = byteTokenizer()
        const check = (sequence: Stream): void => {
          const encoded = encodeStream(tokenizer, sequence)
          if (encoded.ids.length < 2) return
          const { ids, mask } = format.fromRow(throughFile(format.toRow(sequence, encoded)))
          expect(ids.join()).toBe(encoded.ids.join())
          expect(mask.slice(1).join()).toBe(encoded.mask.subarray(1).join())
        }
        known.forEach(check)
        fc.assert(fc.property(anySequence, check), { numRuns: RUNS })
      })
    }
  })
}

it('rejects what a format cannot express, with a reason', () => {
  const [example] = exampleSequences() as [Stream]
  const withPrompt = (prompt: Stream['prompt']): Stream => ({ ...example, prompt })
  const user = { role: 'user' as const, content: 'q' }
  const assistant = { role: 'assistant' as const, content: 'a' }
  const cases: Array<[Stream, string, string[]]> = [
    [withPrompt([user, assistant, user]), 'assistant message', ['verl-sft', 'axolotl']],
    [
      withPrompt([user, assistant, user]),
      'not one question',
      ['llama-factory-sharegpt', 'llama-factory-alpaca'],
    ],
    [withPrompt([assistant]), 'does not end with a user', ['trl-messages', 'openai']],
    [
      { ...example, spans: example.spans.slice(0, 5) },
      'ends with text',
      ['openai', 'verl-sft', 'trl-messages'],
    ],
    [{ ...example, spans: example.spans.slice(4) }, 'starts with text', ['llama-factory-sharegpt', 'openai']],
    [
      { ...example, spans: example.spans.filter(({ kind }) => kind === 'observation') },
      'nothing in it',
      ['axolotl', 'openai'],
    ],
    [withPrompt([{ ...user, content: '\ud83d' }]), 'lone surrogate', ['axolotl', 'openai', 'verl-sft']],
  ]
  for (const [sequence, words, names] of cases) {
    for (const format of formats) {
      if (format.carries === 'text' && names.includes(format.name))
        expect(format.refuse(sequence)).toContain(words)
    }
  }
})
