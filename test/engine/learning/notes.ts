import { randomStream } from '../../../src/engine/checkpoint/index.ts'

/**
 * Texts of one kind, made up anew each time: a few names with numbers, then a question about each with its answer. To
 * write an answer one has to find the name in what came before and copy its number; nothing of it can be known by heart.
 */
export interface Note {
  /** The names and numbers: read, never learned by heart. */
  note: string
  /** Questions and answers, copied from it. */
  rest: string
}

const consonants = 'bdfgklmnprstvz'
const vowels = 'aeiou'

export function notes(seed: string): () => Note {
  const random = randomStream(`notes ${seed}`)
  const below = (limit: number): number => random() % limit
  const syllable = (): string => `${consonants[below(consonants.length)]}${vowels[below(vowels.length)]}`
  const name = (): string => {
    const letters = Array.from({ length: 2 + below(2) }, syllable).join('')
    return letters[0]!.toUpperCase() + letters.slice(1)
  }
  return () => {
    const entries = new Map<string, string>()
    const count = 2 + below(3)
    while (entries.size < count) entries.set(name(), String(10 + below(990)))
    const list = [...entries].map(([each, number]) => `${each} ${number}`)
    // Asked for in another order than they were told in.
    const order = [...entries.keys()].toSorted(() => (random() % 2) - 0.5)
    const questions = order.map((each) => `<ask>${each}</ask><answer>${each} ${entries.get(each)}</answer>`)
    return { note: `<note>${list.join(', ')}.</note>`, rest: `${questions.join('')}\n` }
  }
}

/** What the questions and answers of a text look like, and whether each answer is what the note says. */
export function judge(note: string, rest: string): { wellFormed: boolean; copied: boolean } {
  const wellFormed = /^(?:<ask>[A-Z][a-z]+<\/ask><answer>[A-Z][a-z]+ \d{2,3}<\/answer>)+\n$/.test(rest)
  const answers = [...rest.matchAll(/<ask>(\w+)<\/ask><answer>(\w+ \d+)<\/answer>/g)]
  const copied = answers.every(([, asked, answer]) => {
    return answer!.startsWith(`${asked} `) && (note.includes(`>${answer}`) || note.includes(` ${answer}`))
  })
  return { wellFormed, copied: wellFormed && copied }
}
