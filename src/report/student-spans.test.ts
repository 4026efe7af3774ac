import { expect, test } from 'vitest'
import { studentSpans } from './student-spans.ts'
import { studentTokens, teamTokens } from './tokens-of.ts'

const prompt = { origin: 'prompt' as const, tokens: [1, 2, 3] }
const sampled = (count: number) => ({
  origin: 'sampled' as const,
  tokens: Array<number>(count).fill(7),
  logprobs: Array<number>(count).fill(-1),
})
const inserted = { origin: 'inserted' as const, tokens: [9, 9] }

const call = '<plan>p</plan>\n<think>t</think>\n<code>\n```py\nprint(1)\n```\n</code>'
const text = `${call}\n<observation>1</observation>\n<reflection>r</reflection>\n<think>d</think>\n<answer>\\boxed{1}</answer>`

test('what stands behind a call was inserted, and is masked', () => {
  const { spans, isExact } = studentSpans({
    grammar: 'math',
    text,
    segments: [prompt, sampled(4), inserted, sampled(3)],
  })
  expect(spans!.map(({ text: own }) => own).join('')).toBe(text)
  expect(spans!.filter(({ trainable }) => !trainable).map(({ agent }) => agent)).toEqual(['observation'])
  expect(isExact).toBe(true)
})

test('an observation that the model made up is not taken for an inserted one', () => {
  const { spans, isExact } = studentSpans({
    grammar: 'math',
    text: '<plan>p</plan>\n<think>t</think>\n<observation>42</observation>\n<answer>\\boxed{42}</answer>',
    segments: [prompt, sampled(9)],
  })
  expect(spans!.every(({ trainable }) => trainable)).toBe(true)
  expect(isExact).toBe(true)
})

test('without its grammar a text has no parts, and nothing is claimed about them', () => {
  expect(studentSpans({ grammar: 'nobody', text, segments: [prompt, sampled(4), inserted] })).toEqual({
    spans: undefined,
    isExact: false,
  })
})

test('a stream is counted once, and with the context of every request', () => {
  const tokens = studentTokens({ segments: [prompt, sampled(4), inserted, sampled(3)] })
  expect(tokens).toEqual({ prompt: 3, sampled: 7, inserted: 2, requests: 2, once: 12, billed: 7 + 12 })
})

test("an agent's tokens are summed over its requests", () => {
  const wrote = (agent: string, promptTokens: number, completionTokens: number) => ({
    id: `${agent}${promptTokens}`,
    parent: null,
    agent,
    t: 0,
    type: 'wrote' as const,
    text: '',
    usage: { promptTokens, completionTokens },
  })
  expect(teamTokens({ events: [wrote('a', 10, 1), wrote('b', 20, 2), wrote('a', 30, 3)] })).toEqual([
    { agent: 'a', requests: 2, prompt: 40, written: 4 },
    { agent: 'b', requests: 1, prompt: 20, written: 2 },
  ])
})
