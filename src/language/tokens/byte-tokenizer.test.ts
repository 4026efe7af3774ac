import { describe, expect, it } from 'vitest'
import { byteTokenizer, byteTokenizerFiles } from './byte-tokenizer.ts'

const tokenizer = byteTokenizer()

describe('the built-in byte tokenizer', () => {
  it('uses each byte as its id', () => {
    const text = 'Aé😀\0\n'
    expect(Array.from(tokenizer.encodeIds(text))).toEqual([...new TextEncoder().encode(text)])
    expect(tokenizer.decode(tokenizer.encodeIds(text))).toBe(text)
    expect(tokenizer.vocabularySize).toBe(259)
  })

  it('maps each byte to its whole character', () => {
    const { starts, ends } = tokenizer.encode('é😀x')
    expect(Array.from(starts)).toEqual([0, 0, 1, 1, 1, 1, 3])
    expect(Array.from(ends)).toEqual([1, 1, 3, 3, 3, 3, 4])
  })

  it('encodes control tokens as text by default', () => {
    expect(tokenizer.encodeIds('<|im_end|>').length).toBe(10)
    expect(Array.from(tokenizer.encodeIds('a<|im_end|>', { specials: 'recognize' }))).toEqual([97, 258])
    expect([tokenizer.eosId, tokenizer.padId, tokenizer.bosId]).toEqual([258, 256, undefined])
  })

  it('decodes an incomplete character and an unknown id as U+FFFD, and no ids as an empty string', () => {
    expect(tokenizer.decode([0xc3])).toBe('\ufffd')
    expect(tokenizer.decode([97, 5000])).toBe('a\ufffd')
    expect(tokenizer.decode([])).toBe('')
    expect(tokenizer.decode([97, 258], { skipControlTokens: true })).toBe('a')
  })

  it('is deterministic', () => {
    expect(JSON.stringify(byteTokenizerFiles())).toBe(JSON.stringify(byteTokenizerFiles()))
    expect(byteTokenizer()).toBe(tokenizer)
  })
})
