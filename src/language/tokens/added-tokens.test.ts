import { describe, expect, it } from 'vitest'
import { AddedTokenFinder } from './added-tokens.ts'
import { AddedToken } from './tokenizer-json.ts'

const finder = (...tokens: Array<Record<string, unknown>>): AddedTokenFinder =>
  new AddedTokenFinder(
    tokens.map((token, id) => {
      const parsed = AddedToken.parse({ id, ...token })
      return { content: parsed.content, token: parsed }
    }),
  )
const show = (text: string, found: AddedTokenFinder): string[] =>
  found
    .split(text, () => true)
    .map(({ start, end, token }) =>
      token === undefined ? text.slice(start, end) : `[${text.slice(start, end)}]`,
    )

describe('added tokens', () => {
  it('finds the leftmost, longest match', () => {
    expect(show('a<x><xy>', finder({ content: '<x' }, { content: '<x>' }, { content: '<xy>' }))).toEqual([
      'a',
      '[<x>]',
      '[<xy>]',
    ])
    expect(show('<<x>', finder({ content: '<x>' }))).toEqual(['<', '[<x>]'])
    expect(show('', finder({ content: '<x>' }))).toEqual([])
  })

  it('includes the spaces that a token strips', () => {
    const mask = finder({ content: '<m>', lstrip: true, rstrip: true })
    expect(show('a \n <m>\t b', mask)).toEqual(['a', '[ \n <m>\t ]', 'b'])
    expect(show('  <m> <m>  ', mask)).toEqual(['[  <m> ]', '[<m>  ]'])
  })

  it('matches a single-word token only where it touches no letter', () => {
    const word = finder({ content: 'tok', single_word: true })
    expect(show('tok, atok tokb (tok) 𝒳tok', word)).toEqual(['[tok]', ', atok tokb (', '[tok]', ') 𝒳tok'])
  })

  it('ignores rejected matches', () => {
    const sections = finder({ content: '<x>' }).split('<x>a<x>', (_, start) => start > 0)
    expect(sections.map(({ start, end }) => [start, end])).toEqual([
      [0, 4],
      [4, 7],
    ])
  })
})
