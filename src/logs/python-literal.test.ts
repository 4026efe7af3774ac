import fc from 'fast-check'
import { expect, it } from 'vitest'
import { pythonRepr } from '../../test/logs/python.ts'
import { pythonValue } from './python-literal.ts'

const key = fc.string().filter((name) => name !== '__proto__')
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string({ unit: 'grapheme' }),
    fc.integer(),
    fc.constantFrom(true, false, null, "it's", '"x"', '\'"', '\\', '\n'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))

it('reads what Python prints', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.array(value), fc.dictionary(key, value, { minKeys: 1, noNullPrototype: true })),
      (inside) => {
        expect(pythonValue(pythonRepr(inside))).toEqual(inside)
      },
    ),
    { numRuns: 10_000 },
  )
})

it('reads objects and their fields', () => {
  expect(pythonValue("[AIMessage(content='Hi', tool_calls=[]), (1, 2.5)]")).toEqual([
    { class: 'AIMessage', content: 'Hi', tool_calls: [] },
    [1, 2.5],
  ])
  expect(pythonValue(`content='it is "so"' name='search' tool_call_id='c1'`)).toEqual({
    content: 'it is "so"',
    name: 'search',
    tool_call_id: 'c1',
  })
  expect(pythonValue("{'a': '\\x41\\u0042\\U0001F600'}")).toEqual({ a: 'AB😀' })
})

it('leaves other text alone and never throws', () => {
  for (const text of [
    '',
    'None of it',
    '[see below]',
    "{'a': }",
    '(as usual)',
    'f(x',
    '[1, 2',
    "{'a': 'b'} and more",
    "['a' 'b']",
  ])
    expect(pythonValue(text)).toBeUndefined()
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'[](){}\'":,=\\ab1 ') }), (text) => {
      pythonValue(text)
    }),
    { numRuns: 10_000 },
  )
})
