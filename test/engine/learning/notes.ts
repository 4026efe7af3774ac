import { randomStream } from '../../../src/engine/checkpoint/index.ts'
import { type Tokenizer, tokenizerFromJson } from '../../../src/language/tokens/index.ts'
import { trainTokenizer } from '../../../src/language/tokens/train/index.ts'

/**
 * Randomly generated texts: a note with a few names and numbers, followed by a copy. Writing the second half requires
 * copying the first; nothing can be memorized.
 */
export interface Note {
  /** Names and numbers: the prompt, without weight. */
  note: string
  /** The same lines, copied. */
  copy: string
}

/** `unseen` names and numbers occur in no `seen` text. */
export type Part = 'seen' | 'unseen'

const consonants = 'bdfgklmnprstvz'
const vowels = 'aeiou'
const END = '<|endoftext|>'
const tags = ['<note>', '</note>', '<copy>', '</copy>']

export function notes(seed: string, part: Part): (fewest: number, most: number) => Note {
  const random = randomStream(`notes ${seed}`)
  const below = (limit: number): number => random() % limit
  const unless = (make: () => [string, number]): string => {
    for (;;) {
      const [made, code] = make()
      if (isUnseen(code) === (part === 'unseen')) return made
    }
  }
  const name = (): [string, number] => {
    const syllables = Array.from({ length: 2 + below(2) }, () => below(consonants.length * vowels.length))
    const letters = syllables.map(
      (each) => `${consonants[Math.floor(each / vowels.length)]}${vowels[each % vowels.length]}`,
    )
    const word = letters.join('')
    return [word[0]!.toUpperCase() + word.slice(1), syllables.reduce((sum, each) => 70 * sum + each, 1)]
  }
  const number = (): [string, number] => {
    const value = 10 + below(990)
    return [String(value), value]
  }
  return (fewest, most) => {
    const entries = new Map<string, string>()
    const count = fewest + below(most - fewest + 1)
    while (entries.size < count) entries.set(unless(name), unless(number))
    const lines = [...entries].map(([each, value]) => `${each} ${value}\n`).join('')
    return { note: `<note>${lines}</note>`, copy: `<copy>${lines}</copy>` }
  }
}

/** One in five, without a learnable rule: excluding numbers by their last digit would make them look impossible. */
function isUnseen(code: number): boolean {
  return (Math.imul(code, 0x9e3779b1) >>> 16) % 5 === 0
}

/** Trained on such texts: a syllable, a digit or a tag is a token. */
export async function noteTokenizer(): Promise<Tokenizer & { endToken: number }> {
  const next = notes('for the tokenizer', 'seen')
  const texts = Array.from({ length: 2000 }, () => Object.values(next(2, 3)).join(''))
  const { json, config } = await trainTokenizer(texts, {
    vocabularySize: 512,
    tags,
    pattern: '\\p{L}[aeiou]|\\p{N}|\\s',
  })
  const tokenizer = tokenizerFromJson(json, config)
  return { ...tokenizer, endToken: tokenizer.tokenToId(END)! }
}

/** Whether a text has the form of a copy, and how many of its lines match the note. */
export function judge(note: string, copy: string): { wellFormed: boolean; lines: number; right: number } {
  const wellFormed = /^<copy>(?:[A-Z][a-z]+ \d{2,3}\n)+<\/copy>$/.test(copy)
  const linesOf = (text: string): string[] =>
    text
      .replace(/<\/?\w+>/g, '')
      .split('\n')
      .slice(0, -1)
  const [wanted, found] = [linesOf(note), linesOf(copy)]
  return { wellFormed, lines: wanted.length, right: wanted.filter((line, at) => found[at] === line).length }
}
