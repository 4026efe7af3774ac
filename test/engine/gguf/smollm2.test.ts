import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { importGguf, openEmbedded } from '../../../src/engine/index.ts'
import { openTokenizer, renderPrompt } from '../../../src/language/tokens/index.ts'
import { smollm2File } from './smollm2-package.ts'

const found = smollm2File()
if ('missing' in found) console.warn(`SKIPPED: importing SmolLM2: ${found.missing}`)

/** A third-party file: Q4_1 and Q8_0, a vocabulary of 49,152 tokens, a chat template. */
describe.skipIf('missing' in found)('SmolLM2-135M-Instruct', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coa-smollm2-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('is imported and answers a question', { timeout: 300_000 }, async () => {
    const model = join(folder, 'model')
    const file = 'file' in found ? found.file : ''
    const { shape, types } = importGguf(file, model, { createdAt: '2026-01-01T00:00:00Z' })
    expect(types).toEqual({ F32: 61, Q4_1: 210, Q8_0: 1 })
    expect(shape).toMatchObject({ family: 'llama', layers: 30, width: 576, heads: 9, keyValueHeads: 3 })
    const tokenizer = await openTokenizer(model)
    const prompt = renderPrompt(tokenizer, [{ role: 'user', content: 'What is the capital of France?' }])
    const ids = tokenizer.encodeIds(prompt, { specials: 'recognize' })
    // As llama.cpp tokenizes it: digits separately, control tokens whole.
    expect([...tokenizer.encodeIds('Hello 1234 world<|im_end|>', { specials: 'recognize' })]).toEqual([
      19556, 216, 33, 34, 35, 36, 905, 2,
    ])
    const engine = await openEmbedded({ model, threads: 1 })
    const [sample] = await engine.sample({ prompt: ids, maxTokens: 12, temperature: 0, stopTokens: [2] })
    await engine.close()
    expect(tokenizer.decode(sample!.tokens)).toBe('The capital of France is Paris.<|im_end|>')
  })
})
