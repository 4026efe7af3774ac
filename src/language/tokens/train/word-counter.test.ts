import { describe, expect, it } from 'vitest'
import { WordCounter } from './word-counter.ts'

const counted = ({ words, counts }: WordCounter): Record<string, number> =>
  Object.fromEntries(words.map((word, index) => [word, counts[index]!]))

describe('WordCounter', () => {
  it('counts', () => {
    const counter = new WordCounter(10)
    for (const word of ['a', 'b', 'a', ' a longer word than most', 'a']) counter.add(word)
    expect(counted(counter)).toEqual({ a: 3, b: 1, ' a longer word than most': 1 })
    expect(counter.forgotten).toBe(0)
  })

  it('drops the rarest words if there are too many', () => {
    const counter = new WordCounter(100)
    for (let round = 0; round < 1000; round++) {
      for (const word of ['often', 'also', `rare ${round}`]) counter.add(word)
    }
    expect(counter.words.length).toBeLessThanOrEqual(100)
    expect(counted(counter)).toMatchObject({ often: 1000, also: 1000 })
    expect(counter.forgotten + counter.words.length).toBe(1002)
  })

  it('makes room even if every word is frequent', () => {
    const counter = new WordCounter(4)
    for (const word of 'abcd'.repeat(50)) counter.add(word)
    for (const word of 'efgh'.repeat(50)) counter.add(word)
    expect(counted(counter)).toEqual({ e: 50, f: 50, g: 50, h: 50 })
    expect(counter.forgotten).toBe(4)
  })
})
