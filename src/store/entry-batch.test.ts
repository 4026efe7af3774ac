import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type RecordKind, recordKinds } from '../schema/index.ts'
import { EntryBatch, identityOf } from './entry-batch.ts'

test('finds the latest entry of a kind and id, like a map', () => {
  const key = fc.record({
    kind: fc.constantFrom(...recordKinds),
    id: fc.constantFrom('a', 'b', 'c', 'd', 'task'),
  })
  fc.assert(
    fc.property(
      fc.array(key, { maxLength: 16 }),
      fc.array(key, { maxLength: 16 }),
      key,
      (earlier, keys, asked) => {
        const batch = new EntryBatch(16)
        for (const entry of earlier) batch.add({ ...entry, seq: 1, offset: 9, length: 9 })
        batch.clear()
        const model = new Map<string, number>()
        for (const [position, { kind, id }] of keys.entries()) {
          batch.add({ kind, id, seq: position + 1, offset: position * 10, length: 10 })
          model.set(`${kind} ${id}`, position)
        }
        const expected = model.get(`${asked.kind} ${asked.id}`)
        const location = expected === undefined ? undefined : { offset: expected * 10, length: 10 }
        expect(batch.find(identityOf(asked.kind, asked.id))).toEqual(location)
        expect([...batch.latest()]).toEqual([...model.values()].toSorted((a, b) => a - b))
        expect([...batch.latest()].map((position) => batch.kindAt(position))).toEqual(
          [...batch.latest()].map((position) => keys[position]?.kind),
        )
        expect(batch.full).toBe(keys.length === 16)
      },
    ),
    { numRuns: 10_000 },
  )
})

test('identities differ by kind and id, and fit in a JavaScript number', () => {
  const seen = new Set<string>()
  for (const kind of ['task', 'pass-rate'] satisfies RecordKind[]) {
    for (let number = 0; number < 5000; number++) {
      const { high, low } = identityOf(kind, String(number))
      expect(Number.isSafeInteger(high) && Number.isSafeInteger(low)).toBe(true)
      seen.add(`${high} ${low}`)
    }
  }
  expect(seen.size).toBe(10_000)
})
