import { expect, it } from 'vitest'
import { callInput, mostRepeated } from './repeated-calls.ts'

const code = (text: string, stdin?: string) =>
  callInput({ syntax: 'code', language: 'py', code: text, ...(stdin === undefined ? {} : { stdin }) })
const list = (...items: string[]) => callInput({ syntax: 'list', items })
const json = (value: Record<string, unknown>) => callInput({ syntax: 'json', value })

it('treats inputs as equal if the tool does', () => {
  expect(code('print(1)\n\n')).toBe(code('print(1)  \n'))
  expect(code('if a:\n  b()')).not.toBe(code('if a:\nb()'))
  expect(code('print(1)', '2')).not.toBe(code('print(1)', '3'))
  expect(list('https://a', ' https://b')).toBe(list('https://b', 'https://a'))
  expect(list('https://a/X')).not.toBe(list('https://a/x'))
  expect(json({ a: 1, b: [{ d: 'x ', c: null }] })).toBe(json({ b: [{ c: null, d: 'x' }], a: 1 }))
  expect(json({ a: 1 })).not.toBe(json({ a: '1' }))
  expect(callInput({ syntax: 'text', text: 'Ａ  light?' })).toBe(
    callInput({ syntax: 'text', text: 'a light' }),
  )
})

it('counts by tool', () => {
  const payload = { syntax: 'text', text: 'x' } as const
  expect(mostRepeated([])).toEqual({ agent: '', times: 0 })
  const calls = ['a', 'b', 'a'].map((agent) => ({ agent, payload }))
  expect(mostRepeated(calls)).toEqual({ agent: 'a', times: 2 })
})
