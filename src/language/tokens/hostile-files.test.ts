import { describe, expect, it } from 'vitest'
import { TokenizerError } from '../../base/errors/index.ts'
import { byteTokenizerFiles } from './byte-tokenizer.ts'
import { renderPrompt } from './render-prompt.ts'
import { withinTimeLimit } from './time-limit.ts'
import { type Tokenizer, tokenizerFromJson } from './tokenizer.ts'

const letters = Object.fromEntries([...'abxy▁ '].map((letter, id) => [letter, id]))
const bpe = (parts: Record<string, unknown>): Tokenizer =>
  tokenizerFromJson({ model: { type: 'BPE', merges: [], vocab: letters }, ...parts })
const split = (Regex: string) => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false })
const replace = (pattern: object, content: string) => ({ type: 'Replace', pattern, content })

describe('patterns that never terminate', () => {
  it('are stopped with an error on a triggering text', () => {
    const tokenizer = bpe({ pre_tokenizer: split('(a+)+$') })
    expect(tokenizer.encodeIds('aaa').length).toBe(3)
    expect(() => tokenizer.encodeIds(`${'a'.repeat(60)}b`)).toThrow(TokenizerError)
    // The tokenizer still works afterwards.
    expect(tokenizer.encodeIds('aab').length).toBe(3)
  })

  it.each([
    ['(a+)+$', `${'a'.repeat(60)}b`],
    ['(?:a|a)*b', 'a'.repeat(60)],
    ['(x+x+)+y', 'x'.repeat(60)],
    ['(?:a?){40}a{40}b', 'a'.repeat(79)],
    ['a*a*a*a*a*a*a*b', 'a'.repeat(2000)],
  ])('%s can be stopped', (pattern, text) => {
    const work = () => text.match(new RegExp(pattern, 'gu'))
    expect(() => withinTimeLimit('It', 0, work, 30)).toThrow('It did not finish within 0.03 s')
  })
})

it('a time limit passes through results and errors, even when nested', () => {
  expect(withinTimeLimit('It', 0, () => withinTimeLimit('It', 0, () => 7) + 1)).toBe(8)
  expect(() =>
    withinTimeLimit('It', 0, () => {
      throw new RangeError('mine')
    }),
  ).toThrow(RangeError)
})

describe('rules that make text grow', () => {
  const doubling = Array.from({ length: 40 }, () => replace({ String: 'a' }, 'aa'))

  it.each<[string, object]>([
    ['a sequence of doublings', { type: 'Sequence', normalizers: doubling }],
    ['one long replacement', replace({ String: 'a' }, 'b'.repeat(1_000_000))],
    ['a pattern', replace({ Regex: '[a-z]' }, 'b'.repeat(1_000_000))],
  ])('are rejected: %s', (_, normalizer) => {
    expect(() => bpe({ normalizer }).encodeIds('a'.repeat(1000))).toThrow(
      /The tokenizer turns \d+ characters into \d+/,
    )
  })

  it('are rejected in decoding too', () => {
    const tokenizer = bpe({ decoder: { type: 'Sequence', decoders: doubling } })
    expect(() => tokenizer.decode([0])).toThrow(/The tokenizer turns 1 characters into \d+/)
  })

  it('may expand one character to eighteen', () => {
    const tokenizer = bpe({ normalizer: { type: 'NFKC' } })
    expect(() => tokenizer.encode('\ufdfa'.repeat(2000))).not.toThrow()
  })
})

it('the replacement for spaces is one character, not a pattern', () => {
  const metaspace = { type: 'Metaspace', replacement: '(a+)+$', prepend_scheme: 'never' }
  expect(() => bpe({ pre_tokenizer: metaspace })).toThrow('replacement for spaces')
})

describe('chat templates', () => {
  const render = (chat_template: string): string =>
    renderPrompt(
      tokenizerFromJson(byteTokenizerFiles().json, { ...byteTokenizerFiles().config, chat_template }),
      [{ role: 'user', content: 'hi' }],
    )

  it('support the ranges that templates need', () => {
    expect(render('{% for i in range(3) %}{{ i }}{% endfor %}')).toBe('012')
    expect(render('{% for i in range(7, 1, -2) %}{{ i }}{% endfor %}')).toBe('753')
    expect(render('{% for i in range(2, 5) %}{{ i }}{% endfor %}{{ range(5, 2) | length }}')).toBe('2340')
    expect(render('{{ none is none }}{{ True }}{{ messages | length }}')).toBe('truetrue1')
  })

  it.each(['range(1000000000)', 'range(0, 1000000000)', 'range(0, -1000000000, -1)', 'range(0, 1, 0)'])(
    'cannot create a list of %s',
    (list) => {
      expect(() => render(`{% for i in ${list} %}{% endfor %}`)).toThrow(/more than 100000 numbers/)
    },
  )

  it('are stopped if nested loops would never end', () => {
    const loops = (depth: number): string =>
      depth === 0 ? '' : `{% for i in range(90000) %}${loops(depth - 1)}{% endfor %}`
    expect(() => render(loops(3))).toThrow('The chat template did not finish')
  })
})
