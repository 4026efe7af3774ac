import { describe, expect, it } from 'vitest'
import { htmlText } from './html-text.ts'
import { pageText } from './page-text.ts'
import { stripTags } from './strip-tags.ts'

const url = 'https://example.org/dir/page'
const page = (contentType: string, body: string | Buffer) =>
  pageText({ url, contentType, body: Buffer.from(body as string) })

/** The smallest PDF that shows a line of text. */
function pdf(line: string): Buffer {
  const content = `BT /F1 24 Tf 72 700 Td (${line}) Tj ET`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    '<< /Title (Annual Report) >>',
  ]
  let text = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = text.length
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  text += `xref\n0 7\n0000000000 65535 f \n${rows}trailer\n<< /Size 7 /Root 1 0 R /Info 6 0 R >>\nstartxref\n${text.length}\n%%EOF`
  return Buffer.from(text, 'latin1')
}

describe('pageText', () => {
  it('reads a PDF, whatever its content type', async () => {
    const wanted = { title: 'Annual Report', text: 'Herring caught in 1923' }
    expect(await page('application/pdf', pdf('Herring caught in 1923'))).toEqual(wanted)
    expect(await page('application/octet-stream', pdf('Herring caught in 1923'))).toEqual(wanted)
  })

  it('reports why a PDF cannot be read', async () => {
    await expect(page('application/pdf', '%PDF-1.4 broken')).rejects.toThrow('cannot be read')
    await expect(page('application/pdf', pdf(''))).rejects.toThrow('no text')
  })

  it('is not blocked by a small hostile page', async () => {
    let wentOn = false
    setTimeout(() => {
      wentOn = true
    }, 50)
    const hostile = page('text/html', `<title>Deep</title>${'<div>'.repeat(3000)}the words`)
    expect(await hostile).toEqual({ title: 'Deep', text: 'Deep\nthe words' })
    expect(wentOn).toBe(true)
    expect((await page('text/html', '<p>next')).text).toBe('next')
  })

  it.each(['application/json', 'text/csv', 'application/rss+xml', ''])('shows %s as it is', async (type) => {
    expect((await page(type, '{"a": 1}')).text).toBe('{"a": 1}')
  })
})

describe('htmlText', () => {
  it('resolves links against the base, and drops useless images and links', () => {
    const { text } = htmlText(
      `<base href="/other/"><p>see <a href="x">X</a>, <a href="javascript:go()">go</a> and
       <img src="data:image/png;base64,AAAA" alt="a chart"><img src="dot.gif"></p>`,
      url,
    )
    expect(text).toContain('[X](https://example.org/other/x)')
    expect(text).toContain('[picture: a chart]')
    expect(text).not.toMatch(/javascript|base64|dot\.gif/)
  })

  it.each([
    ['<p>bare</p>', 'bare'],
    ['<html><p>no body</p></html>', 'no body'],
    ['<title>t</title><p>no html', 'no html'],
    ['words', 'words'],
  ])('reads %s', (html, text) => {
    expect(htmlText(html, url).text).toBe(text)
  })
})

describe('stripTags', () => {
  it('keeps the text and drops scripts', () => {
    const html =
      '<title>A &amp; B</title><STYLE>p{}</STYLE><p>one  two</p><script>if (a < b) {}</script><p>3 &lt; 4 &#233;'
    expect(stripTags(html)).toEqual({ title: 'A & B', text: 'A & B\none two\n3 < 4 é' })
  })

  it('terminates on unclosed tags', () => {
    // Superlinear time would take hours here.
    for (const piece of ['<', '<a', '<script>', '<title', '&amp', '<!--'])
      expect(stripTags(piece.repeat(500_000)).text).not.toContain('<')
  })
})
