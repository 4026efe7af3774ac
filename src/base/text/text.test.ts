import { expect, test } from 'vitest'
import { escapeHtml, htmlPage, htmlTable, markdownTable, percent, whole } from './index.ts'

test('formats fractions as percentages and unknown values as a dash', () => {
  expect([0, 0.12345, 1].map((share) => percent(share))).toEqual(['0.0%', '12.3%', '100.0%'])
  expect([percent(0.126, 0), percent(-0.5, 0)]).toEqual(['13%', '-50%'])
  expect([0 / 0, 1 / 0, null, undefined].map((share) => percent(share))).toEqual(['–', '–', '–', '–'])
})

test('formats counts as integers with thousands separators', () => {
  expect([0, 999.5, 1234567].map(whole)).toEqual(['0', '1,000', '1,234,567'])
})

test('escaped text cannot break out of HTML', () => {
  expect(escapeHtml(`<a href="x" title='y'>&`)).toBe('&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;')
})

test('a cell of a Markdown table cannot end its cell or its row', () => {
  expect(markdownTable(['a|b', 'c'], [['1\n2', '|']])).toBe('| a\\|b | c |\n|---|---|\n| 1 2 | \\| |')
})

test('a page escapes its title, contains its table as markup and needs no script', () => {
  const page = htmlPage('<b>', '.own{}', htmlTable(['head'], [['<i>cell</i>']]))
  expect(page).toContain('<title>&lt;b&gt;</title>')
  expect(page).toContain('<tr><th>head</th></tr></thead><tbody><tr><td><i>cell</i></td></tr>')
  expect(page).toContain('.own{}</style>')
  expect(page).not.toMatch(/<script|https?:/)
})
