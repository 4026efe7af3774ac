import { expect, test } from 'vitest'
import { studentSpans } from './student-spans.ts'

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
