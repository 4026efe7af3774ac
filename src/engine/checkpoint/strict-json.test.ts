import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseStrictJson } from './strict-json.ts'

test('accepts what JSON.parse accepts, unless a name is duplicated', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 1, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      expect(parseStrictJson(text, 64)).toEqual(JSON.parse(text))
    }),
  )
})

test.each([
  '{"a":1,"a":2}',
  '{"a" \n: 1, "b":{"a":3}, "a"\t:2}',
  String.raw`{"a":1,"\u0061":2}`,
  String.raw`[{"q\"":1,"x":"q\"","q\"":2}]`,
  '{"":1,"":2}',
  '{"__proto__":1,"__proto__":2}',
])('%s is rejected for a duplicate name', (text) => {
  expect(() => parseStrictJson(text, 64)).toThrow(/duplicate name/)
})

test.each(['{"a":"a","b":["a","a"],"c":{"a":1}}', String.raw`{"\\":1,"\\\\":2,"\"":3}`, '[{"a":1},{"a":2}]'])(
  '%s has no duplicate name',
  (text) => {
    expect(parseStrictJson(text, 64)).toEqual(JSON.parse(text))
  },
)

test('nesting is limited; brackets in strings do not count', () => {
  expect(parseStrictJson('[[["[[[["]]]', 3)).toEqual([[['[[[[']]])
  expect(() => parseStrictJson('[[[[1]]]]', 3)).toThrow(/more than 3 levels/)
  expect(() => parseStrictJson('['.repeat(5_000_000), 3)).toThrow(/more than 3 levels/)
})

test.each(['', '{', '{"a', '{"a\\', '"\\', '{"a":1}}', '{"\\x":1}', '}]'])('%j is not JSON', (text) => {
  expect(() => parseStrictJson(text, 64)).toThrow(SyntaxError)
})
