import { afterAll, expect, it } from 'vitest'
import { type Constraint, createConstraint } from '../../../src/agent/constrain/index.ts'
import { openEmbedded } from '../../../src/engine/index.ts'
import { type Grammar, isWellFormed, parseChain, renderStep } from '../../../src/language/grammar/index.ts'
import { byteModelShape } from '../../engine/byte-model.ts'
import { grammars } from '../../grammar/arbitraries.ts'
import { tagTokenizer } from './tokenizers.ts'

const ROLLOUTS = 12
const MOST_TOKENS = 1_500

const tokenizer = tagTokenizer()
const endTokens = [tokenizer.eosId!]
const { vocabularySize } = tokenizer
const engine = await openEmbedded({
  model: { shape: { ...byteModelShape, vocabularySize, contextLength: 2_048, layers: 1 }, seed: 3 },
  threads: 1,
})
afterAll(() => engine.close())

/** Samples until the answer or a token limit; only the constraint stops at a call. */
async function rollout(grammar: Grammar, constraint: Constraint, seed: number): Promise<string> {
  let state = constraint.start()
  let text = ''
  let tokens = [...tokenizer.encodeIds('?')]
  while (!state.ended && tokens.length < MOST_TOKENS) {
    const [sample] = await engine.sample({
      prompt: tokens,
      maxTokens: MOST_TOKENS - tokens.length,
      seed: seed + tokens.length,
      stopTokens: endTokens,
      allowed: state.forRequest(),
      // A high temperature, so that every token is likely enough.
      temperature: 4,
    })
    const sampled = [...sample!.tokens]
    for (const token of sampled) state = state.after(token)
    text += tokenizer.decode(sampled, { continuation: true, skipControlTokens: true })
    tokens = [...tokens, ...sampled]
    expect(sample!.stopped).toBe(
      state.awaitsObservation
        ? 'nothing-allowed'
        : state.ended && sampled.at(-1) === endTokens[0]
          ? 'token'
          : 'length',
    )
    if (!state.awaitsObservation) continue
    const observation = `\n${renderStep(grammar, { agent: 'observation', text: 'nothing found' })}\n`
    state = state.inserted(observation)
    text += observation
    tokens = [...tokens, ...tokenizer.encodeContinuation(observation).ids]
  }
  return text
}

it('an untrained model makes no malformed call', async () => {
  const tally = { calls: 0, answers: 0 }
  for (const grammar of grammars) {
    const constraint = createConstraint(grammar, tokenizer, { endTokens })
    const seeds = Array.from({ length: ROLLOUTS }, (_, index) => 1_000_000 * (index + 1))
    for (const text of await Promise.all(seeds.map((seed) => rollout(grammar, constraint, seed)))) {
      const chain = parseChain(grammar, text, { strict: true })
      // Only the end may be missing if the tokens ran out.
      const codes = chain.diagnostics.map(({ code }) => code)
      expect(
        codes.every((code) => code === 'unclosed-tag' || (code === 'stray-text' && !text.endsWith('>'))),
      ).toBe(true)
      expect(chain.order.violations.filter(({ found }) => found !== null)).toEqual([])
      const called = chain.blocks.filter((block) => block.kind === 'tool' && block.closed)
      expect(chain.calls.length).toBe(called.length)
      if (chain.answer !== null) expect(isWellFormed(chain)).toBe(true)
      tally.calls += called.length
      tally.answers += chain.answer === null ? 0 : 1
    }
  }
  expect(tally.calls).toBeGreaterThan(40)
  expect(tally.answers).toBeGreaterThan(5)
})
