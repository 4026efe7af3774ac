import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePattern } from './normalize.ts'
import { UnitReader } from './units.ts'
import { gpt2Pattern, wordScanner } from './word-scanner.ts'

const later = (digits: string): string =>
  `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`

const patterns = { gpt2: gpt2Pattern, qwen: later('\\p{N}'), llama3: later('\\p{N}{1,3}') }

/** Edge cases of the rules: kinds of whitespace, quotes and what may follow them, digits, surrogate pairs. */
const hostile = fc
  .array(
    fc.constantFrom(
      ...["'", 's', 'S', 'ſ', 'l', 'L', 'r', 'e', 'E', 'v', 'd', 'm', 'T', 'x', 'é', 'ß', '中', 'İ', 'ǅ'],
      ...[
        '1',
        '23',
        '٣',
        '½',
        'Ⅷ',
        '²',
        ' ',
        '  ',
        '\n',
        '\r',
        '\r\n',
        '\t',
        '\u00a0',
        '\u3000',
        '\u2028',
        '\u0085',
      ],
      ...[
        '.',
        '!?',
        '<',
        '>',
        '_',
        '“',
        '’',
        '\u0301',
        '\u200d',
        '😀',
        '𝒳',
        '𝟘',
        '𐅉',
        '\ufffd',
        '\u0000',
        '\ufeff',
      ],
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''))
const anything = fc.string({ unit: 'binary', maxLength: 60 }).map((text) => text.toWellFormed())

const reader = new UnitReader()

describe.each(Object.entries(patterns))('words of %s', (_, pattern) => {
  const scan = wordScanner(pattern)!
  const regex = compilePattern({ Regex: pattern })
  it.each([
    ['hostile', hostile],
    ['any', anything],
  ] as const)('match the regex, %s text', (_name, texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        let end = 0
        const expected = (text.match(regex) ?? []).map((word) => (end += word.length))
        const ends: number[] = []
        const units = reader.read(text)
        for (let at = 0; at < text.length; at = ends.at(-1)!) ends.push(scan(units, at))
        expect(ends).toEqual(expected)
      }),
      { numRuns: 10_000 },
    )
  })
})

it('leaves other patterns to the regex', () => {
  expect(wordScanner('\\w+')).toBeUndefined()
})
