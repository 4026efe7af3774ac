import { constants, deflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { readPdf } from './pdf-reader.ts'

type Objects = Record<number, string | Buffer>

/** A PDF with these objects; 1 is the root. */
function pdf(objects: Objects): Buffer {
  const parts = [Buffer.from('%PDF-1.7\n')]
  const offsets: Record<number, number> = {}
  let length = parts[0]!.length
  const push = (piece: string | Buffer): void => {
    const bytes = Buffer.from(piece as string)
    parts.push(bytes)
    length += bytes.length
  }
  for (const [number, body] of Object.entries(objects)) {
    offsets[Number(number)] = length
    push(`${number} 0 obj\n`)
    push(body)
    push('\nendobj\n')
  }
  const size = Math.max(...Object.keys(objects).map(Number)) + 1
  const start = length
  push(`xref\n0 ${size}\n0000000000 65535 f \n`)
  for (let number = 1; number < size; number++)
    push(`${String(offsets[number] ?? 0).padStart(10, '0')} 00000 n \n`)
  push(`trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`)
  return Buffer.concat(parts)
}

function stream(head: string, data: string | Buffer): Buffer {
  const bytes = Buffer.from(data as string)
  return Buffer.concat([
    Buffer.from(`<< ${head} /Length ${bytes.length} >>\nstream\n`),
    bytes,
    Buffer.from('\nendstream'),
  ])
}

/** A document of `count` pages that all show the same content. */
function document(content: Buffer, more: Objects = {}, count = 1, resources = ''): Buffer {
  return pdf({
    1: '<< /Type /Catalog /Pages 2 0 R >>',
    2: `<< /Type /Pages /Kids [${'3 0 R '.repeat(count)}] /Count ${count} >>`,
    3: `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 5 0 R
        /Resources << /Font << /F1 4 0 R >> ${resources} >> >>`,
    4: '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    5: content,
    ...more,
  })
}

const words = 'BT /F1 12 Tf (hello) Tj ET'

/** Forms that each include the next one ten times, twelve levels deep: a trillion words. */
function nestedForms(): Buffer {
  const depth = 12
  const forms = Array.from({ length: depth }, (_, level): [number, Buffer] => {
    const next = level < depth - 1 ? `/XObject << /X ${11 + level} 0 R >>` : '/Font << /F1 4 0 R >>'
    const head = `/Type /XObject /Subtype /Form /BBox [0 0 100 100] /Resources << ${next} >>`
    return [10 + level, stream(head, level < depth - 1 ? '/X Do '.repeat(10) : words)]
  })
  return document(stream('', '/X Do '.repeat(10)), Object.fromEntries(forms), 1, '/XObject << /X 10 0 R >>')
}

/** A gigabyte of spaces in a megabyte: a flushed deflate block can be repeated. */
function flateBomb(): Buffer {
  const block = deflateRawSync(Buffer.alloc(2 ** 20, ' '), { finishFlush: constants.Z_FULL_FLUSH })
  const data = Buffer.concat([Buffer.from([0x78, 0x9c]), ...Array<Buffer>(1000).fill(block)])
  return document(stream('/Filter /FlateDecode', data))
}

/** A character map for two billion codes. */
function characterMapBomb(): Buffer {
  const map =
    '/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <0000> <FFFF> ' +
    'endcodespacerange 1 beginbfrange <00000000> <7FFFFFFF> <0041> endbfrange endcmap end end'
  return document(stream('', 'BT /F1 12 Tf <00410042> Tj ET'), {
    4: '<< /Type /Font /Subtype /Type0 /BaseFont /Foo /Encoding /Identity-H /DescendantFonts [7 0 R] /ToUnicode 6 0 R >>',
    6: stream('', map),
    7: `<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Foo /W [0 2000000000 500]
        /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>`,
  })
}

describe('a hostile PDF', () => {
  it.each<[string, () => Buffer, RegExp]>([
    ['of nested forms', nestedForms, /took longer than 5 s/],
    ['of a gigabyte in a megabyte', flateBomb, /needs too much memory/],
    ['with a huge character map', characterMapBomb, /needs too much memory|took longer than 5 s/],
  ])('%s fails with a reason, without blocking the process', async (_, make, reason) => {
    const bytes = make()
    const before = process.memoryUsage.rss()
    let ticks = 0
    let peak = 0
    const clock = setInterval(() => {
      ticks++
      peak = Math.max(peak, process.memoryUsage.rss() - before)
    }, 10)
    try {
      await expect(readPdf(bytes, 'x.pdf')).rejects.toThrow(reason)
    } finally {
      clearInterval(clock)
    }
    expect(ticks).toBeGreaterThan(1)
    expect(peak).toBeLessThan(1.2e9)
    expect((await readPdf(document(stream('', words)), 'x.pdf')).text).toBe('hello')
  })

  it('with a circular page tree is rejected', async () => {
    const circular = { 2: '<< /Type /Pages /Kids [2 0 R] /Count 5 >>' }
    await expect(readPdf(document(stream('', words), circular), 'x.pdf')).rejects.toThrow('cannot be read')
  })

  it('with too many pages is read up to the limit', async () => {
    const { text } = await readPdf(document(stream('', words), {}, 20_000), 'x.pdf')
    expect(text).toMatch(/^hello\nhello\n/)
    expect(text).toMatch(/\n\[… \d+ of 20000 pages were read.* …\]$/)
    expect(text.length).toBeLessThan(4000)
  })
})
