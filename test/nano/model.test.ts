import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Random } from '../../src/base/random/index.ts'
import { type Engine, openEmbedded } from '../../src/engine/index.ts'
import { buildPrompt, builtinGrammars, parseChain } from '../../src/language/grammar/index.ts'
import { encodePrompt, openTokenizer, type Tokenizer } from '../../src/language/tokens/index.ts'
import { suites } from '../../src/tasks/index.ts'

const folder = fileURLToPath(new URL('../../models/nano', import.meta.url))

/** Of a hundred copies, how many have to be right to the last letter. */
const LEAST_EXACT = 90

describe('the model of nano', () => {
  let engine: Engine
  let tokenizer: Tokenizer
  beforeAll(async () => {
    engine = await openEmbedded({ model: folder })
    tokenizer = await openTokenizer(folder)
  })
  afterAll(() => engine.close())

  const writes = async (prompt: ArrayLike<number>, maxTokens: number): Promise<string> => {
    const [sample] = await engine.sample({
      prompt,
      maxTokens,
      temperature: 0,
      stopTokens: [tokenizer.eosId!],
    })
    return tokenizer.decode(sample!.tokens.filter((token) => token !== tokenizer.eosId))
  }

  it('has at most two million weights', () => {
    expect(engine.describe().parameters).toBeLessThan(2_000_000)
  })

  it('copies names and numbers that it has never seen', async () => {
    const random = new Random('copies of nano')
    const syllable = (): string => `${random.pick([...'bdfgklmnprstvz'])}${random.pick([...'aeiou'])}`
    // Drills leave these names out: see is_held_out in scripts/nano/train/drills.py.
    const word = (): string => {
      for (;;) {
        const letters = Array.from({ length: random.int(2, 4) }, syllable).join('')
        const name = letters.charAt(0).toUpperCase() + letters.slice(1)
        if (crc32(name) % 5 === 0) return name
      }
    }
    const lists = Array.from({ length: 100 }, () =>
      Array.from({ length: 4 }, () => (random.chance(0.7) ? word() : String(random.int(10, 99_999)))).join(
        ', ',
      ),
    )
    const copies = await Promise.all(
      lists.map((list) => {
        // Encoded with what follows: the space before a name goes with the colon.
        const asked = `${list}\nOnce more:`
        const { ids, starts } = tokenizer.encode(`${asked} ${list}`)
        return writes(
          ids.slice(
            0,
            starts.findIndex((start) => start >= asked.length),
          ),
          60,
        )
      }),
    )
    const exact = copies.filter((copy, at) => copy === lists[at]).length
    console.info(`${exact} of ${lists.length} lists copied exactly`)
    expect(exact).toBeGreaterThanOrEqual(LEAST_EXACT)
  })

  it('is no agent', async () => {
    const grammar = builtinGrammars.get('math')!
    const tasks = Array.from({ length: 20 }, (_, index) =>
      suites.get('math')!.generate({ seed: 1, split: 'test', index, level: 1 }),
    )
    const chains = await Promise.all(
      tasks.map(async ({ question }) => {
        const text = await writes(encodePrompt(tokenizer, buildPrompt(grammar, question)), 200)
        return parseChain(grammar, text)
      }),
    )
    expect(chains.filter(({ answer }) => answer !== null)).toEqual([])
  })
})
