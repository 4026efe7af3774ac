import { describe, expect, it } from 'vitest'
import { TokenizerError } from '../../../base/errors/index.ts'
import type { Progress } from '../../../base/progress/index.ts'
import { renderPrompt } from '../render-prompt.ts'
import { type Tokenizer, tokenizerFromJson } from '../tokenizer.ts'
import { trainTokenizer } from './train-tokenizer.ts'
import type { TrainTokenizerOptions } from './training-options.ts'

const texts = Array.from(
  { length: 200 },
  (_, index) =>
    `<think>The keeper of lighthouse ${index} measured ${index % 7}.14 metres of rain.</think>\n` +
    `<answer>naïve café, 東京 ${'😀'.repeat(index % 3)}</answer><|im_end|>\n`,
)
const tags = ['<think>', '</think>', '<answer>', '</answer>']

async function train(options: Partial<TrainTokenizerOptions> = {}, from = texts): Promise<Tokenizer> {
  const { json, config } = await trainTokenizer(from, { vocabularySize: 400, ...options })
  return tokenizerFromJson(json, config)
}

const written = (tokenizer: Tokenizer, text: string): Array<string | undefined> =>
  Array.from(tokenizer.encodeIds(text), (id) => tokenizer.idToToken(id))

describe('trainTokenizer', () => {
  it('puts control tokens first, then bytes, merges and tags', async () => {
    const tokenizer = await train({ tags, vocabularySize: 300 })
    expect(tokenizer.vocabularySize).toBe(300)
    expect(
      ['<|endoftext|>', '<|im_start|>', '<|im_end|>'].map((token) => tokenizer.tokenToId(token)),
    ).toEqual([0, 1, 2])
    expect([tokenizer.tokenToId('!'), tokenizer.tokenToId('Ġ')]).toEqual([3, 3 + 188 + 32])
    expect(tags.map((tag) => tokenizer.tokenToId(tag))).toEqual([296, 297, 298, 299])
    expect([tokenizer.bosId, tokenizer.eosId, tokenizer.padId]).toEqual([undefined, 2, 0])
  })

  it('encodes each tag as one token everywhere, and never as a control token', async () => {
    const tokenizer = await train({ tags })
    for (const tag of tags) {
      expect(written(tokenizer, tag)).toEqual([tag])
      expect(written(tokenizer, `a${tag}${tag}é`).filter((token) => token === tag)).toEqual([tag, tag])
      expect(tokenizer.isControl(tokenizer.tokenToId(tag)!)).toBe(false)
    }
  })

  it('encodes control tokens as text by default', async () => {
    const tokenizer = await train()
    for (const token of ['<|endoftext|>', '<|im_start|>', '<|im_end|>']) {
      const id = tokenizer.tokenToId(token)!
      const ids = tokenizer.encodeIds(`a ${token}\n`)
      expect(ids).not.toContain(id)
      expect(tokenizer.decode(ids)).toBe(`a ${token}\n`)
      expect(tokenizer.encodeIds(`a ${token}\n`, { specials: 'recognize' })).toContain(id)
    }
  })

  it('learns nothing from the letters of tags and control tokens', async () => {
    const { json } = await trainTokenizer(['<think><think>ab<|im_end|>', 'ab</think>'], {
      vocabularySize: 300,
      tags: ['<think>', '</think>'],
    })
    expect((json['model'] as { merges: unknown }).merges).toEqual([['a', 'b']])
  })

  it('encodes each digit as one token', async () => {
    const tokenizer = await train({ vocabularySize: 1000 }, ['1999 1999 1999 2024 2024 2024'.repeat(9)])
    expect(written(tokenizer, '1999')).toEqual(['1', '9', '9', '9'])
  })

  it('needs fewer tokens with a larger vocabulary', async () => {
    const sizes = [259, 280, 320, 400]
    const lengths: number[] = []
    for (const vocabularySize of sizes) {
      const tokenizer = await train({ vocabularySize })
      lengths.push(texts.reduce((sum, text) => sum + tokenizer.encodeIds(text).length, 0))
    }
    expect(lengths[0]).toBe(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0))
    expect(lengths).toEqual(lengths.toSorted((one, other) => other - one))
    expect(lengths.at(-1)!).toBeLessThan(lengths[0]! / 2.5)
  })

  it('renders chats as ChatML', async () => {
    const messages = [
      { role: 'system' as const, content: 's' },
      { role: 'user' as const, content: 'u' },
    ]
    expect(renderPrompt(await train(), messages)).toBe(
      '<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n',
    )
    const plain = await train({
      controlTokens: ['<s>', '</s>'],
      eosToken: '</s>',
      padToken: '</s>',
      bosToken: '<s>',
    })
    expect(plain.describe()).toMatchObject({ chatTemplate: false, bosToken: '<s>', controlTokens: 2 })
    expect((await train({ chatTemplate: 'x{{ bos_token }}' })).chatTemplate()).toBe('x{{ bos_token }}')
    expect((await train({ chatTemplate: null })).chatTemplate()).toBeUndefined()
  })

  it('gives the same result from a stream, and for any order of texts', async () => {
    async function* stream(): AsyncGenerator<string> {
      for (const text of texts.toReversed()) yield text
    }
    const options = { vocabularySize: 350, tags }
    const { json } = await trainTokenizer(stream(), options)
    expect(json).toEqual((await trainTokenizer(texts, options)).json)
  })

  it('reports a smaller vocabulary if the texts have no more pairs', async () => {
    const { json, summary } = await trainTokenizer(['abab abab'], { vocabularySize: 1000, tags: ['<a>'] })
    expect((json['model'] as { merges: unknown }).merges).toEqual([
      ['a', 'b'],
      ['ab', 'ab'],
    ])
    expect(summary).toEqual({
      vocabularySize: 262,
      complete: false,
      merges: 2,
      texts: 1,
      characters: 9,
      differentWords: 2,
      wordsTooLong: 0,
      wordsForgotten: 0,
    })
    expect((await trainTokenizer(['abab abab'], { vocabularySize: 261 })).summary.complete).toBe(true)
  })

  it('skips words that are too long', async () => {
    const { json, summary } = await trainTokenizer([`${'xy'.repeat(200)} ab ab`], { vocabularySize: 500 })
    expect(summary).toMatchObject({ wordsTooLong: 1, differentWords: 1 })
    expect(JSON.stringify(json)).not.toContain('"xy"')
  })

  it('splits a long text without changing its words', async () => {
    const line = 'The lighthouse  keeper\n\n  measured rain, he said.\r\n\t— yes\n'
    const lines = Array.from({ length: 60_000 }, (_, index) => `${line}${index % 97}`)
    const options = { vocabularySize: 330 }
    const whole = await trainTokenizer([lines.join('')], options)
    expect(whole.summary.characters).toBeGreaterThan(3_000_000)
    // A line starts and ends where the pattern splits anyway.
    const parts = await trainTokenizer(lines, options)
    expect(whole.json).toEqual(parts.json)
  })

  it('reports progress', async () => {
    const seen: Progress[] = []
    await trainTokenizer(texts, { vocabularySize: 300, observe: (progress) => seen.push(progress) })
    expect(seen.findLast(({ stage }) => stage === 'read')).toEqual({
      stage: 'read',
      done: 200,
      unit: 'texts',
    })
    expect(seen.at(-1)).toEqual({ stage: 'merge', done: 41, total: 41, unit: 'tokens' })
  })

  it('stops when aborted, before and during the work', async () => {
    const reason = new Error('enough')
    const options = { vocabularySize: 300, signal: AbortSignal.abort(reason) }
    await expect(trainTokenizer(texts, options)).rejects.toBe(reason)
    function* forever(): Generator<string> {
      for (;;) yield 'The keeper measured rain. '.repeat(50)
    }
    const controller = new AbortController()
    setTimeout(() => controller.abort(reason), 20)
    await expect(trainTokenizer(forever(), { vocabularySize: 300, signal: controller.signal })).rejects.toBe(
      reason,
    )
  })

  it.each<[string, Partial<TrainTokenizerOptions>, RegExp]>([
    ['a vocabulary too small', { vocabularySize: 260, tags: ['<a>', '<b>'] }, /vocabularySize is 260.* 261/],
    ['a vocabulary size that is not a number', { vocabularySize: Number.NaN }, /vocabularySize is NaN/],
    ['a frequency of 0', { minimumFrequency: 0 }, /minimumFrequency is 0/],
    ['a duplicate tag', { tags: ['<a>', '<a>'] }, /"<a>" is listed twice/],
    ['a tag that is a control token', { tags: ['<|im_end|>'] }, /"<\|im_end\|>" is listed twice/],
    ['a tag that looks like a control token', { tags: ['<|a|>'] }, /"<\|a\|>" looks like a control/],
    ['an empty control token', { controlTokens: ['<|im_end|>', ''] }, /is empty/],
    ['a lone surrogate', { tags: ['<\ud800>'] }, /lone surrogate/],
    ['a byte as tag', { tags: ['!'] }, /"!" looks like bytes/],
    ['a tag that represents bytes', { tags: ['Ġthe'] }, /"Ġthe" looks like bytes/],
    [
      'an end token that is not a control token',
      { controlTokens: ['<|endoftext|>'] },
      /eosToken "<\|im_end\|>" is not/,
    ],
    ['a pattern that cannot be compiled', { pattern: '(' }, /pattern/],
  ])('rejects %s', async (_name, options, message) => {
    const failure = await train(options).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(TokenizerError)
    expect((failure as TokenizerError).message).toMatch(message)
    expect((failure as TokenizerError).fix).toMatch(/\w/)
  })

  it.each<[string, string[], RegExp]>([
    ['no texts', [], /no text/],
    ['empty texts', ['', '<|im_end|>'], /no text/],
    ['a single overlong word', ['x'.repeat(300)], /longer than 256/],
  ])('rejects %s', async (_name, from, message) => {
    await expect(trainTokenizer(from, { vocabularySize: 300 })).rejects.toThrow(message)
  })
})
