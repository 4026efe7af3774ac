import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Engine, openEmbedded, saveCheckpoint, shapeFromConfig } from '../../src/engine/index.ts'
import { openTokenizer, renderPrompt } from '../../src/language/tokens/index.ts'
import { readMiniMind } from './reference/minimind.ts'
import { minimindPackage } from './reference/minimind-package.ts'

interface Fixture {
  onnx_sha256: string
  prompts: {
    messages: { role: 'user'; content: string }[]
    ids: number[]
    logprobs: number[]
    greedy: { ids: number[]; text: string; logprobs: number[] }
  }[]
}
const fixture = JSON.parse(
  readFileSync(new URL('./reference/minimind.fixture.json', import.meta.url), 'utf8'),
) as Fixture
const found = minimindPackage()
if ('missing' in found) console.warn(`SKIPPED: MiniMind: ${found.missing}`)

/** A real model with 25.8 million parameters, against transformers in float64. */
describe.skipIf('missing' in found)('MiniMind2-Small', () => {
  let engine: Engine
  let folder: string
  const source = 'folder' in found ? found.folder : ''
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coa-minimind-'))
    const { config, weights, sha256 } = readMiniMind(source)
    expect(sha256).toBe(fixture.onnx_sha256)
    saveCheckpoint(join(folder, 'model'), {
      shape: shapeFromConfig(config),
      weights,
      stage: 'import',
      step: 0,
      createdAt: '2026-01-01T00:00:00Z',
    })
    engine = await openEmbedded({ model: join(folder, 'model'), tokenizer: source })
  })
  afterAll(async () => {
    await engine?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it.each(fixture.prompts)('matches transformers', async ({ messages, ids, logprobs, greedy }) => {
    const tokenizer = await openTokenizer(source)
    const prompt = renderPrompt(tokenizer, messages)
    expect([...tokenizer.encodeIds(prompt, { specials: 'recognize' })]).toEqual(ids)
    const read = await engine.forward([{ tokens: ids, weights: ids.map(() => 1) }])
    for (const [at, logprob] of logprobs.entries())
      expect(Math.abs(read.logprobs[0]![at + 1]! - logprob)).toBeLessThan(1e-3)
    const [sample] = await engine.sample({ prompt: ids, maxTokens: greedy.ids.length, temperature: 0 })
    expect([...sample!.tokens]).toEqual(greedy.ids)
    for (const [at, logprob] of greedy.logprobs.entries())
      expect(Math.abs(sample!.modelLogprobs[at]! - logprob)).toBeLessThan(1e-3)
    expect(tokenizer.decode(sample!.tokens)).toBe(greedy.text)
  })
})
