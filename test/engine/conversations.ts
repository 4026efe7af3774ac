import type { Engine } from '../../src/engine/index.ts'

interface Conversation {
  tokens: number[]
  /** Positions of the sampled tokens, and their log-probabilities from the sampler. */
  positions: number[]
  sampled: number[]
}

/** Three turns of one or two tokens, with up to two appended in between; the number determines lengths and seeds. */
async function converse(engine: Pick<Engine, 'sample'>, number: number): Promise<Conversation> {
  const letters = [97, 98, 99]
  let tokens = letters.slice(0, 1 + (number % 3))
  const positions: number[] = []
  const sampled: number[] = []
  for (let turn = 0; turn < 3; turn++) {
    const maxTokens = 1 + ((number + turn) % 2)
    const [sample] = await engine.sample({ prompt: tokens, maxTokens, seed: 100 * number + turn })
    sample!.modelLogprobs.forEach((logprob, at) => {
      positions.push(tokens.length + at)
      sampled.push(logprob)
    })
    tokens = [...tokens, ...sample!.tokens, ...letters.slice(0, (number + turn) % 3)]
  }
  return { tokens, positions, sampled }
}

/** Twelve concurrent conversations, round after round: log-probabilities from the sampler and from the learner. */
export async function compareConversations(
  engine: Pick<Engine, 'sample' | 'forward'>,
  rounds: number,
): Promise<{ sampled: number[]; computed: number[] }[]> {
  const compared = []
  for (let round = 0; round < rounds; round++) {
    const conversations = await Promise.all(
      Array.from({ length: 12 }, (_, number) => converse(engine, number)),
    )
    const { logprobs } = await engine.forward(
      conversations.map(({ tokens }) => ({ tokens, weights: tokens.map(() => 1) })),
    )
    for (const [number, { positions, sampled }] of conversations.entries())
      compared.push({ sampled, computed: positions.map((at) => logprobs[number]![at]!) })
  }
  return compared
}
