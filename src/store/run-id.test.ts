import fc from 'fast-check'
import { expect, test } from 'vitest'
import { StoreError } from '../base/errors/index.ts'
import { checkPathName } from './path-name.ts'
import { newRunId } from './run-id.ts'

test('consists of the UTC time and four characters', () => {
  expect(newRunId(new Date('2026-03-04T05:06:07.890Z'))).toMatch(/^20260304-050607-[0-9a-z]{4}$/)
  expect(checkPathName(newRunId(), 'a run')).toMatch(/^\d{8}-\d{6}-/)
})

test('two ids of the same moment differ', () => {
  const now = new Date()
  expect(new Set(Array.from({ length: 50 }, () => newRunId(now))).size).toBeGreaterThan(45)
})

test.each([
  '',
  '.',
  '..',
  '../x',
  'a/b',
  'a\\b',
  '/etc',
  '.hidden',
  'a b',
  'ü',
  'a\0',
  'a\n',
  'x'.repeat(101),
])('%j is rejected', (id) => {
  expect(() => checkPathName(id, 'a run')).toThrow(StoreError)
})

test('accepted ids are plain file names', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('.', '/', '\\', 'a', '-', '_', '0', '~', ':') }), (id) => {
      let passed = true
      try {
        checkPathName(id, 'a run')
      } catch {
        passed = false
      }
      expect(passed).toBe(/^[a0]/.test(id) && !/[/\\~:]/.test(id) && id.length <= 100)
    }),
    { numRuns: 10_000 },
  )
})
