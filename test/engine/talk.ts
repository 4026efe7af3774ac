import type { Engine } from '../../src/engine/index.ts'

interface Talk {
  tokens: number[]
  /** Where sampled tokens stand, and what the sampler gave them. */
  places: number[]
  sampled: number[]
}

/** Three turns of a token or two each, with up to two appended in between; the number says how many, and the seeds. */
async function talk(engine: Pick<Engine, 'sample'>, number: number): Promise<Talk> {
  const letters = [97, 98, 99]
  let tokens = letters.slice(0, 1 + (number % 3))
  const places: number[] = []
  const sampled: number[] = []
  for (let turn = 0; turn < 3; turn++) {
    const maxTokens = 1 + ((number + turn) % 2)
    const [sample] = await engine.sample({ prompt: tokens, maxTokens, seed: 100 * number + turn })
    sample!.modelLogprobs.forEach((logprob, at) => {
      places.push(tokens.length + at)
      sampled.push(logprob)
    })
    tokens = [...tokens, ...sample!.tokens, ...letters.slice(0, (number + turn) % 3)]
  }
  return { tokens, places, sampled }
}

/** Twelve talks at the same time, round after round: what the sampler gave each token, and what the learner computes. */
export async function compareTalks(
  engine: Pick<Engine, 'sample' | 'forward'>,
  rounds: number,
): Promise<{ sampled: number[]; computed: number[] }[]> {
  const compared = []
  for (let round = 0; round < rounds; round++) {
    const talks = await Promise.all(Array.from({ length: 12 }, (_, number) => talk(engine, number)))
    const { logprobs } = await engine.forward(
      talks.map(({ tokens }) => ({ tokens, weights: tokens.map(() => 1) })),
    )
    for (const [number, { places, sampled }] of talks.entries())
      compared.push({ sampled, computed: places.map((at) => logprobs[number]![at]!) })
  }
  return compared
}
