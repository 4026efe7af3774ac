import { expect, test } from 'vitest'
import { type Engine, openEmbedded } from '../../src/engine/index.ts'
import { isFull } from '../how-many.ts'

const CONVERSATIONS = isFull ? 24 : 10

/** Two requests with tokens inserted in between, as in a rollout with a tool. Some share a prefix, some are identical. */
async function converse(engine: Engine, number: number): Promise<number[]> {
  const prefix = Array.from({ length: 30 + 11 * (number % 5) }, (_, at) => 3 + ((at * 7) % 2000))
  const prompt = number % 3 === 0 ? prefix : [...prefix, 5 + number, 6 + 2 * number, 7]
  const request = { temperature: 0.9, seed: number }
  const [first] = await engine.sample({ ...request, prompt, maxTokens: 20 + 9 * (number % 7) })
  const inserted = Array.from({ length: 1 + 40 * (number % 4) }, (_, at) => 9 + ((at * 13) % 1900))
  const longer = [...prompt, ...first!.tokens, ...inserted]
  const [second] = await engine.sample({ ...request, prompt: longer, maxTokens: 60 })
  return [first!, second!].flatMap(({ tokens, logprobs }) => [...tokens, ...logprobs])
}

test('a sequence is bit-identical alone and in a batch', { timeout: 120_000 }, async () => {
  const open = (): Promise<Engine> => openEmbedded({ model: 'models/nano', threads: 2 })
  const numbers = Array.from({ length: CONVERSATIONS }, (_, number) => number)
  const together = await open()
  const batched = await Promise.all(numbers.map((number) => converse(together, number)))
  await together.close()
  const alone = await open()
  // In reverse, so that the cached prefixes differ too.
  for (const number of numbers.reverse()) expect(await converse(alone, number)).toEqual(batched[number])
  await alone.close()
})
