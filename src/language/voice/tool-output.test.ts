import { describe, expect, it } from 'vitest'
import type { TrajectoryEvent } from '../../schema/index.ts'
import { resemblance, toolLikeTexts } from './index.ts'

const rows = Array.from({ length: 12 }, (_, index) => ({
  title: `Entry ${index}`,
  link: `https://example.test/${index}`,
  snippet: 'A river in the north, with two lakes and a mill that still runs.',
}))
const page = `<html><body><div id="a">${'<p>One</p><a href="/x">Two</a><li>Three</li>'.repeat(4)}</div></body></html>`
const results = rows
  .slice(0, 3)
  .map(({ title, link, snippet }, index) => `${index + 1}. ${title}\nURL: ${link}\nSnippet: ${snippet}`)

describe('text that looks like tool output', () => {
  it.each([
    ['an exit code', 'exitcode: 1 (execution failed)\nCode output: KeyError: 7'],
    ['an exit code', 'Execution logs:\n81\nLast output from code snippet:\n81'],
    ['an exit code', 'The script ran, then exited with Unix exit code: 0\nIts output was:\n81'],
    ['a traceback', 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nKeyError: 7'],
    ['a traceback', 'Error: no\n    at run (/a/b.js:1:2)\n    at main (/a/b.js:3:4)\n    at /a/b.js:5:6\n'],
    [
      'a web page',
      'Address: https://example.test/a\nTitle: A\nViewport position: Showing page 1 of 3.\n====\nA',
    ],
    ['a web page', 'I clicked on it.\nThe viewport shows 31% of the webpage, at the top.'],
    [
      'search results',
      "A Bing search for 'the Osk' found 10 results:\n\n## Web Results\n1. [Osk](https://a.test)",
    ],
    ['search results', results.join('\n')],
    ['HTML', page],
    ['JSON', JSON.stringify({ results: rows })],
  ])('%s: %j', (kind, text) => expect(resemblance(text)?.kind).toBe(kind))

  it.each([
    'The program failed with exit code 1, so the index must be wrong.',
    'The traceback says KeyError: 7, from line 3 of a.py.',
    'I would print it like this:\n```html\n'.concat(page, '\n```\nThat is the page.'),
    'The page has a <div> and two <p> elements; the <a> in the first is the link.',
    '1. Find the river (https://a.test).\n2. Read https://b.test.\n3. Compare with https://c.test.',
    JSON.stringify({
      is_request_satisfied: { reason: 'x'.repeat(600), answer: false },
      next: { reason: 'y'.repeat(600), answer: 'a' },
    }),
    JSON.stringify([
      { step: 1, do: 'search' },
      { step: 2, do: 'read' },
      { step: 3, do: 'answer' },
    ]),
    '{'.repeat(2000),
  ])('not %j', (text) => expect(resemblance(text)).toBeUndefined())

  const words = (count: number, from = 0): string =>
    Array.from({ length: count }, (_, index) => `word${from + index}`).join(' ')
  const run = (output: string, text: string, as: 'report' | 'call' = 'report'): TrajectoryEvent[] => [
    { id: 'a', t: 0, parent: null, agent: 'x', type: 'tool-answered', tool: 'search', output, ok: true },
    { id: 'b', t: 1, parent: 'a', agent: 'x', type: 'wrote', text, said: { as, text } },
  ]

  it('includes long quotes of an earlier result, whatever the white space', () => {
    const quote = `It says: ${words(60, 20).replaceAll(' ', '\n')}`
    expect(toolLikeTexts(run(words(100), quote))).toEqual([
      { event: 'b', agent: 'x', kind: 'a long quote of a result', example: quote.slice(9).slice(0, 160) },
    ])
    expect(toolLikeTexts(run(words(100), `It says: ${words(59, 20)}. So it is.`))).toEqual([])
    expect(toolLikeTexts(run(words(100), quote).toReversed())).toEqual([])
  })

  it('looks at what is trained on as text: not at payloads, and at a text once', () => {
    const text = 'exitcode: 0 (execution succeeded)\nCode output: 81'
    expect(toolLikeTexts(run('', text, 'call'))).toEqual([])
    expect(toolLikeTexts(run('', text))).toHaveLength(1)
    const thinking = { ...run('', text)[1]!, thought: text } as TrajectoryEvent
    expect(toolLikeTexts([thinking])).toHaveLength(1)
  })
})
