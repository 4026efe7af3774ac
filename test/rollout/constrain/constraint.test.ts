import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ConstraintState, createConstraint } from '../../../src/agent/constrain/index.ts'
import { builtinGrammars, defineGrammar, type Grammar } from '../../../src/language/grammar/index.ts'
import { byteTokenizer, type Tokenizer } from '../../../src/language/tokens/index.ts'
import { grammars } from '../../grammar/arbitraries.ts'
import { loadTokenizer } from '../../tokens/load.ts'
import { allowedIn, randomWalk } from './random-walk.ts'
import { walkTokenizers } from './tokenizers.ts'

const bytes = byteTokenizer()
const walked = await walkTokenizers()
const endTokens = [bytes.eosId!]
const math = builtinGrammars.get('math')!

function allowedCharacters(state: ConstraintState): string {
  return bytes.decode(allowedIn(state.allowed()))
}

function at(text: string, grammar: Grammar = math): ConstraintState {
  return createConstraint(grammar, bytes, { endTokens }).start().inserted(text)
}

function mayTake(state: ConstraintState, token: number): boolean {
  try {
    state.after(token)
    return true
  } catch {
    return false
  }
}

describe('what may follow', () => {
  it.each([
    ['', '<'],
    ['<', 'p'],
    ['<plan>x</plan>', '\n'],
    ['<plan>x</plan>\n', '<'],
    ['<plan>x</plan>\n<', 't'],
    ['<plan>x</plan>\n<think>x</think>\n<', 'ac'],
    ['<plan>x</plan>\n<think></think>\n<code>\n```', '\t\u000b\f\r P`p'],
    ['<plan>x</plan>\n<think></think>\n<code>\n```p', 'Yy'],
    ['<plan>x</plan>\n<think></think>\n<code>```py\nx\n```\n</', 'c'],
  ])('after %j', (text, expected) => {
    expect([...allowedCharacters(at(text))].sort().join('')).toBe([...expected].sort().join(''))
  })

  it.each([
    ['<plan></plan', '>', true],
    ['<plan></Plan', '>', false],
    ['<plan></think', '>', false],
    ['<plan><CODE', '>', false],
    ['<plan><p', '>', true],
    ['<plan>x</plan>\n<think></think>\n<answer> </answer', '>', false],
    ['<plan>x</plan>\n<think></think>\n<answer> <\\/answer', '>', true],
  ])('after %j: %j is allowed: %j', (text, next, expected) => {
    const { ids } = bytes.encode(next)
    expect(at(text).allowed()[ids[0]!]).toBe(expected ? 1 : 0)
  })

  it('nothing after a call, until its observation is inserted', () => {
    const called = at('<plan>x</plan>\n<think></think>\n<code>```py\nprint(1)\n```</code>')
    expect(called.awaitsObservation).toBe(true)
    expect(allowedIn(called.allowed())).toEqual([])
    expect(() => called.inserted('1')).toThrow(/has no <observation>/)
    expect(allowedCharacters(called.inserted('\n<observation><code></observation>\n<'))).toBe('r')
  })

  it('only an end token after the answer', () => {
    const ended = at('<plan>x</plan>\n<think></think>\n<answer>4</answer>')
    expect(ended.ended).toBe(true)
    expect(allowedIn(ended.allowed())).toEqual(endTokens)
    expect(ended.after(endTokens[0]!)).toBe(ended)
  })
})

describe('tokens', () => {
  it('never allows rows that the tokenizer does not have', () => {
    const constraint = createConstraint(math, bytes, { endTokens, vocabularySize: 320 })
    const mask = constraint.start().inserted('<plan>').allowed()
    expect(mask.length).toBe(320)
    expect(mask.slice(256).every((entry) => entry === 0)).toBe(true)
  })

  it('only completes a character that was started', () => {
    const begun = at('<plan>').after(0xe2)
    expect(allowedIn(begun.allowed())).toEqual(Array.from({ length: 64 }, (_, index) => 0x80 + index))
    const narrow = at('<plan>').after(0xed)
    expect(allowedIn(narrow.allowed())).toEqual(Array.from({ length: 32 }, (_, index) => 0x80 + index))
    expect(at('<plan>').allowed()[0xc0]).toBe(0)
    expect(at('<plan>x</plan>\n').allowed()[0xe2]).toBe(0)
    const whole = begun.after(0x80).after(0xa8)
    expect(whole.allowed()['<'.charCodeAt(0)]).toBe(1)
  })

  it('treats an interrupted character as one replacement character', () => {
    const state = at('<plan>x</plan>\n<think></think>\n<answer>').after(0xe2)
    expect(state.inserted('</answer>').ended).toBe(true)
  })

  it('names the token that was not allowed', () => {
    expect(() => at('').after(120)).toThrow(/Token 120 is not allowed/)
  })

  it.each(walked)('the mask of %s agrees with checking every token by itself', (_, tokenizer) => {
    fc.assert(
      fc.property(
        fc.constantFrom(...grammars),
        fc.nat(),
        fc.integer({ min: 0, max: 120 }),
        (grammar, seed, most) => {
          const constraint = createConstraint(grammar, tokenizer, { endTokens: [tokenizer.eosId!] })
          const { state } = randomWalk(grammar, tokenizer, constraint, { seed, most, observation: 'x' })
          const mask = state.allowed()
          for (let token = 0; token < tokenizer.vocabularySize; token++)
            if (mayTake(state, token) !== (mask[token] === 1))
              throw new Error(
                `token ${token} ${JSON.stringify(tokenizer.decode([token]))}: mask ${mask[token]}`,
              )
        },
      ),
      { numRuns: 100 },
    )
  })

  it.each(['gpt2', 'qwen2_5', 'llama2'])('follows the encoding of a real tokenizer: %s', async (name) => {
    const tokenizer = await loadTokenizer(name)
    const constraint = createConstraint(math, tokenizer, { endTokens: [tokenizer.eosId ?? 0] })
    const text = '<plan>naïve 漢字 👩‍👩‍👧</plan>\n<think>\n</think>\n<answer>\\boxed{4}</answer>'
    let state = constraint.start()
    for (const token of tokenizer.encodeContinuation(text).ids) {
      expect(state.allowed()[token], tokenizer.decode([token])).toBe(1)
      state = state.after(token)
    }
    expect(state.ended).toBe(true)
  })

  it('refuses a tokenizer that could get stuck in a tag, and one whose tokens do not join', async () => {
    const unigram = await loadTokenizer('unigram')
    expect(() => createConstraint(math, unigram, { endTokens: [0] })).toThrow(/no single token for .*"`"/)
    const spaced: Tokenizer = {
      ...bytes,
      decode: (ids, options) => Array.from(ids, (id) => bytes.decode([id], options)).join(' '),
    }
    expect(() => createConstraint(math, spaced, { endTokens })).toThrow(/depends on their neighbors/)
    expect(() => createConstraint(math, bytes, { endTokens: [] })).toThrow(/no end token to follow/)
  })
})

describe('requests', () => {
  it('follows each sample separately, from the start of the request', () => {
    const allowed = at('<plan>x').forRequest()
    const first = [...bytes.encodeIds('</plan>')]
    expect(allowedIn(allowed(first, 0)!)).toEqual([10])
    expect(allowed([], 1)![120]).toBe(1)
    expect(allowedIn(allowed([...first, 10], 0)!)).toEqual([60])
    // Called again with fewer tokens: starts over.
    expect(allowed([60], 0)![47]).toBe(1)
  })
})

it('names the parts of a schema that are not enforced', () => {
  const schema = {
    type: 'object',
    properties: {
      day: { type: 'string', pattern: '^[0-9]+$', description: 'd' },
      size: { type: 'integer', minimum: 3 },
      mixed: { anyOf: [{ type: 'integer' }, { type: 'number' }] },
    },
  }
  const grammar = defineGrammar({
    name: 'one',
    description: 'd',
    start: ['answer'],
    agents: [{ name: 'answer', kind: 'answer', description: 'd', payload: { syntax: 'json', schema } }],
  })
  const { unchecked } = createConstraint(grammar, bytes, { endTokens })
  expect(unchecked).toEqual([
    'answer: schema.properties.day.pattern',
    'answer: schema.properties.size.minimum',
    'answer: schema.properties.mixed.anyOf',
  ])
})
