import fc from 'fast-check'
import { parseHTML } from 'linkedom'
import { expect, test } from 'vitest'
import { anyString } from '../../../test/store/support/records.ts'
import { html } from './html.ts'

test('interpolated values stay text, as content and as an attribute', () => {
  fc.assert(
    fc.property(fc.oneof(anyString, fc.string({ unit: fc.constantFrom(...'<>"\'&;/ax=') })), (text) => {
      const page = html`<p title="${text}">${text}</p><i></i>`.text
      expect(page.match(/[<>]/g)).toHaveLength(8)
      expect(page.match(/"/g)).toHaveLength(2)
      const { document } = parseHTML(`<!doctype html><html><body>${page}</body></html>`)
      expect([...document.body.children].map(({ tagName }) => tagName)).toEqual(['P', 'I'])
      expect(document.querySelector('p')!.children).toHaveLength(0)
    }),
    { numRuns: 10_000 },
  )
})

test('pieces and lists of pieces are inserted as is', () => {
  const items = ['a', '<b>'].map((item) => html`<li>${item}</li>`)
  expect(html`<ul>${items}</ul>${undefined}${3}`.text).toBe('<ul><li>a</li><li>&lt;b&gt;</li></ul>3')
})

test('control characters and lone surrogates are shown as missing', () => {
  expect(html`${'a\u0000b\u001b[31mc\u009b\ud800\n\t'}`.text).toBe('a\ufffdb\ufffd[31mc\ufffd\ufffd\n\t')
})
