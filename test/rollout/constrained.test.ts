import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { rollOutAll } from '../../src/agent/index.ts'
import { seedOf } from '../../src/base/random/index.ts'
import { byteTokenizerWithTags, openEmbedded, randomWeights, saveCheckpoint } from '../../src/engine/index.ts'
import { builtinGrammars } from '../../src/language/grammar/index.ts'
import { tokenizerFromJson } from '../../src/language/tokens/index.ts'
import { streamText } from '../../src/schema/index.ts'
import { byteModelShape } from '../engine/byte-model.ts'
import { job, policyOf, says, settings } from './fixtures.ts'

const tags = [...builtinGrammars.get('math')!.agents.values()].flatMap(({ tag }) => [`<${tag}>`, `</${tag}>`])
const files = byteTokenizerWithTags([...tags, '```py\n', '\n```\n'])
const tokenizer = tokenizerFromJson(files.json, files.config)
const shape = {
  ...byteModelShape,
  vocabularySize: tokenizer.vocabularySize,
  contextLength: 6000,
  layers: 1,
  endTokens: [tokenizer.eosId!],
}
const folder = mkdtempSync(join(tmpdir(), 'coa-constrained-'))
saveCheckpoint(join(folder, 'model'), {
  shape,
  weights: randomWeights(shape, 3),
  stage: 'init',
  step: 0,
  createdAt: '2026-01-01T00:00:00Z',
  files: {
    'tokenizer.json': JSON.stringify(files.json),
    'tokenizer_config.json': JSON.stringify(files.config),
  },
})
const engine = await openEmbedded({ model: join(folder, 'model') })
afterAll(async () => {
  await engine.close()
  rmSync(folder, { recursive: true })
})

const jobs = Array.from({ length: 24 }, (_, at) => ({
  ...job,
  id: `r${at}`,
  seed: seedOf('constrained', at),
}))
// A high temperature, so that every token is likely enough.
const hot = { ...settings, temperature: 4, maxTokens: 1500, maxTurns: 100, maxSameCall: 100 }
const policy = { engine, tokenizer, endTokens: [tokenizer.eosId!], checkpoint: 'tiny' }

it('an untrained model makes format errors, and none with constrained decoding', async () => {
  const roll = (constrained: boolean) =>
    rollOutAll(jobs, policy, says('nothing'), { ...hot, constrained }, { concurrency: 24 })
  const free = await roll(false)
  expect(free.some(({ wellFormed }) => wellFormed)).toBe(false)
  const kept = await roll(true)
  const calls = kept.flatMap((rollout) => rollout.calls)
  const answered = kept.filter(({ stop }) => stop === 'answer')
  expect(calls.length).toBeGreaterThan(5)
  expect(answered.length).toBeGreaterThan(2)
  expect(calls.filter(({ outcome }) => outcome === 'malformed')).toEqual([])
  for (const rollout of answered) expect(rollout.wellFormed, streamText(rollout)).toBe(true)
  // The log-probabilities with and without the mask differ, and both are recorded.
  const [sampled] = kept[0]!.spans
  expect(sampled!.origin).toEqual({ request: 0 })
  expect(sampled!.modelLogprobs).toHaveLength(sampled!.tokens!.length)
})

it('an engine without mask support is refused by name', async () => {
  const plain = policyOf(() => '')
  const without = {
    ...plain,
    engine: {
      ...plain.engine,
      describe: () => ({ ...plain.engine.describe(), missing: { allowedTokens: 'it takes no masks' } }),
    },
  }
  const asked = rollOutAll([job], without, says(''), { ...settings, constrained: true }, { concurrency: 1 })
  await expect(asked).rejects.toThrow('cannot constrain decoding to a grammar: it takes no masks')
})
