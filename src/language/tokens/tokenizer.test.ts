import { describe, expect, it } from 'vitest'
import { type Tokenizer, tokenizerFromJson } from './tokenizer.ts'

const tokens = (tokenizer: Tokenizer, ids: Int32Array): Array<string | undefined> =>
  Array.from(ids, (id) => tokenizer.idToToken(id))
const list = (...names: string[]): Record<string, number> =>
  Object.fromEntries(names.map((name, id) => [name, id]))
const control = (id: number, content: string) => ({ id, content, special: true })

function bpe(options: Record<string, unknown>, rest: Record<string, unknown> = {}): Tokenizer {
  return tokenizerFromJson({ model: { type: 'BPE', merges: [], ...options }, ...rest })
}

describe('tokenizerFromJson', () => {
  it('never produces a control token from text, even if merges or the vocabulary would', () => {
    const merged = bpe(
      { vocab: list('<', 's', '>', '<s', '<s>'), merges: ['< s', '<s >'] },
      { added_tokens: [control(4, '<s>')] },
    )
    expect(tokens(merged, merged.encodeIds('<s>'))).toEqual(['<', 's', '>'])
    expect(tokens(merged, merged.encodeIds('<s>', { specials: 'recognize' }))).toEqual(['<s>'])
    const whole = bpe(
      { vocab: list('e', 'n', 'd', 'end'), ignore_merges: true },
      { added_tokens: [control(3, 'end')] },
    )
    expect(tokens(whole, whole.encodeIds('end'))).toEqual(['e', 'n', 'd'])
    const unigram = tokenizerFromJson({
      model: {
        type: 'Unigram',
        unk_id: 0,
        vocab: [
          ['<unk>', 0],
          ['<s>', 0],
          ['<', -2],
          ['s', -2],
          ['>', -2],
        ],
      },
      added_tokens: [control(0, '<unk>'), control(1, '<s>')],
    })
    expect(tokens(unigram, unigram.encodeIds('<s>?'))).toEqual(['<', 's', '>', '<unk>'])
  })

  it('treats tokens that look like control tokens as such, flagged or not, but not plain tags', () => {
    const added = [
      { id: 7, content: '<｜User｜>', special: false },
      { id: 8, content: '<think>', special: false },
    ]
    const tokenizer = bpe(
      { vocab: list('<', '>', '｜', 'U', 's', 'e', 'r'), unk_token: 'r' },
      { added_tokens: added },
    )
    expect(tokenizer.isControl(7)).toBe(true)
    expect(tokenizer.isControl(8)).toBe(false)
    expect(tokenizer.encodeIds('<｜User｜>').length).toBe(8)
    expect(Array.from(tokenizer.encodeIds('<think>'))).toEqual([8])
  })

  it('keeps control tokens as text only in literal ranges', () => {
    const tokenizer = bpe({ vocab: list('<', 's', '>') }, { added_tokens: [control(3, '<s>')] })
    const encode = (literal: Array<[number, number]>) =>
      tokens(tokenizer, tokenizer.encodeIds('<s><s><s>', { specials: 'recognize', literal }))
    expect(encode([[3, 6]])).toEqual(['<s>', '<', 's', '>', '<s>'])
    expect(encode([[0, 1]])).toEqual(['<', 's', '>', '<s>', '<s>'])
    expect(
      encode([
        [0, 3],
        [5, 7],
      ]),
    ).toEqual(['<', 's', '>', '<', 's', '>', '<', 's', '>'])
    expect(encode([])).toEqual(['<s>', '<s>', '<s>'])
  })

  it('adds no dummy prefix to a continuation', () => {
    const vocab = list('▁', 'a', 'b', '▁a', 'ab')
    const merges = ['▁ a', 'a b']
    const variants = [
      bpe(
        { vocab, merges },
        {
          normalizer: {
            type: 'Sequence',
            normalizers: [
              { type: 'Prepend', prepend: '▁' },
              { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
            ],
          },
        },
      ),
      bpe(
        { vocab, merges },
        { pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'first' } },
      ),
      bpe(
        { vocab, merges },
        { pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always' } },
      ),
    ]
    for (const tokenizer of variants) {
      expect(tokens(tokenizer, tokenizer.encodeIds('ab'))).toEqual(['▁a', 'b'])
      expect(tokens(tokenizer, tokenizer.encodeContinuation('ab').ids)).toEqual(['ab'])
      expect(tokens(tokenizer, tokenizer.encodeContinuation(' a').ids)).toEqual(['▁a'])
      const { starts, ends } = tokenizer.encode('ab')
      expect([Array.from(starts), Array.from(ends)]).toEqual([
        [0, 1],
        [1, 2],
      ])
    }
    const words = bpe(
      { vocab, merges },
      {
        pre_tokenizer: {
          type: 'Sequence',
          pretokenizers: [{ type: 'WhitespaceSplit' }, { type: 'Metaspace' }],
        },
      },
    )
    expect(tokens(words, words.encodeContinuation('ab a').ids)).toEqual(['ab', '▁a'])
  })

  it('adds the tokenizer’s own tokens around a text on request', () => {
    const tokenizer = bpe(
      { vocab: list('a', '<s>', '</s>') },
      {
        post_processor: {
          type: 'TemplateProcessing',
          single: [
            { SpecialToken: { id: '<s>' } },
            { Sequence: { id: 'A' } },
            { SpecialToken: { id: '</s>' } },
          ],
        },
      },
    )
    const { ids, starts, ends } = tokenizer.encode('aa', { addSpecialTokens: true })
    expect([Array.from(ids), Array.from(starts), Array.from(ends)]).toEqual([
      [1, 0, 0, 2],
      [0, 0, 1, 2],
      [0, 1, 2, 2],
    ])
  })

  it('encodes unknown characters as bytes if a Unigram model supports it', () => {
    const bytes = Array.from({ length: 256 }, (_, byte): [string, number] => [
      `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
      -9,
    ])
    const tokenizer = tokenizerFromJson({
      model: { type: 'Unigram', unk_id: 0, byte_fallback: true, vocab: [['<unk>', 0], ['a', -1], ...bytes] },
      decoder: {
        type: 'Sequence',
        decoders: [
          { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
          { type: 'ByteFallback' },
          { type: 'Fuse' },
        ],
      },
    })
    const { ids, starts, ends } = tokenizer.encode('aé😀')
    expect(tokenizer.decode(ids)).toBe('aé😀')
    expect([Array.from(starts), Array.from(ends)]).toEqual([
      [0, 1, 1, 2, 2, 2, 2],
      [1, 2, 2, 4, 4, 4, 4],
    ])
  })

  it('reads templates by name', () => {
    const tokenizer = tokenizerFromJson(
      { model: { type: 'BPE', vocab: { a: 0 }, merges: [] } },
      {
        chat_template: [
          { name: 'default', template: 'D' },
          { name: 'tool_use', template: 'T' },
        ],
      },
    )
    expect([
      tokenizer.chatTemplate(),
      tokenizer.chatTemplate('tool_use'),
      tokenizer.chatTemplate('x'),
    ]).toEqual(['D', 'T', undefined])
  })

  it('reports what it does not support', () => {
    const model = { type: 'BPE', vocab: { a: 0 }, merges: [] }
    const cases: Array<[unknown, RegExp]> = [
      [null, /not a tokenizer/],
      [{}, /no usable model/],
      [{ model: { type: 'BPE', vocab: {} } }, /empty vocabulary/],
      [{ model: { type: 'BPE', vocab: { a: 'x' } } }, /no valid id/],
      [{ model: { ...model, type: 'Magic' } }, /"Magic" are not supported/],
      [{ model, normalizer: { type: 'Nmt' } }, /normalizer "Nmt"/],
      [{ model, pre_tokenizer: { type: 'UnicodeScripts' } }, /pre-tokenizer "UnicodeScripts"/],
      [{ model, pre_tokenizer: { type: 'Split', pattern: { Regex: '(' }, behavior: 'Isolated' } }, /pattern/],
      [{ model: { ...model, continuing_subword_prefix: '##' } }, /continuing_subword_prefix/],
      [{ model, normalizer: { type: 'Precompiled', precompiled_charsmap: 'AAAA' } }, /damaged/],
    ]
    for (const [json, message] of cases) expect(() => tokenizerFromJson(json)).toThrow(message)
    expect(() => tokenizerFromJson({ model }, { bos_token: 5 })).toThrow(/tokenizer_config.json is not valid/)
  })
})
