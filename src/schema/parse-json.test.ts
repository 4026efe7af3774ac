import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyString } from '../../test/store/support/records.ts'
import { parseJson } from './parse-json.ts'

test.each([
  ['{"h":[],"\\\\":0}', '{"h":[],"\\n":0}', ['h', '\n']],
  ['{"a":1,"\\\\n":0}', '{"a":1,"\\nx":0}', ['a', '\nx']],
  ['{"a":1,"\\\\":0}', '{ "a" : 1 , "\\"" : 0 }', ['a', '"']],
])('after %s, the keys of %s are correct', (earlier, text, keys) => {
  // Both are kept alive: the bug needs the shape of the earlier object.
  const objects = [JSON.parse(earlier), parseJson(text)]
  expect(Object.keys(objects[1] as object)).toEqual(keys)
})

test('parses what JSON.stringify writes', () => {
  const keys = fc.oneof(
    anyString,
    fc.constantFrom('\\', '\n', '"', '\\n', '\\\\', 'key-0', 'key--0', '1', '__proto__'),
  )
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      fc.constantFrom(null, true, 0, 1.5),
      anyString,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(keys, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2), (original, indent) => {
      const parsed = parseJson(JSON.stringify(original, null, indent))
      expect(JSON.stringify(parsed)).toBe(JSON.stringify(original))
    }),
    { numRuns: 10_000 },
  )
})

test.each(['', '{', '{"\\q":1}', '{"a\\":1}', '{"\\n":}', '["\\n",]'])('%j is still an error', (text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError)
})

test('the last value of a duplicate key wins', () => {
  expect(parseJson('{"\\n":1,"b":2,"\\n":3}')).toEqual({ '\n': 3, b: 2 })
})

test('adversarial texts take linear time', () => {
  // Quadratic time would take minutes here.
  for (const text of [
    `{${'"\\'.repeat(400_000)}`,
    `{"key-${'-'.repeat(400_000)}":1,"\\n":2}`,
    `{${'"\\n":1,'.repeat(100_000)}"a":1}`,
  ]) {
    try {
      parseJson(text)
    } catch (error) {
      expect(error).toBeInstanceOf(SyntaxError)
    }
  }
})
