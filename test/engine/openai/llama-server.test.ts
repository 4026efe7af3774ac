import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Engine, exportGguf, openEmbedded, openOpenAI } from '../../../src/engine/index.ts'
import { openTokenizer, type Tokenizer } from '../../../src/language/tokens/index.ts'
import { texts, writeTrained } from '../gguf/trained-models.ts'

const program = process.env['COA_TEST_LLAMA_SERVER']
if (program === undefined)
  console.warn('SKIPPED: llama-server (llama.cpp): set COA_TEST_LLAMA_SERVER to its path')

/** The real server with a model trained and exported here. */
describe.skipIf(program === undefined)('llama-server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coa-llama-server-'))
  let child: ChildProcess
  let server: Engine
  let embedded: Engine
  let tokenizer: Tokenizer
  beforeAll(async () => {
    const model = await writeTrained(folder, { family: 'qwen3' })
    const file = join(folder, 'tiny.gguf')
    exportGguf(model, file, { type: 'F32' })
    const port = await freePort()
    const cache = ['--cache-type-k', 'f32', '--cache-type-v', 'f32']
    child = spawn(
      program!,
      ['-m', file, '--port', String(port), '-c', '256', '-np', '2', '-t', '1', ...cache],
      {
        stdio: 'ignore',
      },
    )
    tokenizer = await openTokenizer(model)
    server = await openOpenAI({ url: `http://127.0.0.1:${port}`, tokenizer, retries: 8 })
    embedded = await openEmbedded({ model, threads: 1 })
  }, 120_000)
  afterAll(async () => {
    await server?.close()
    await embedded?.close()
    child?.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  it('is recognized', () => {
    expect(server.describe()).toMatchObject({ driver: 'openai', contextLength: 128 })
    expect(server.describe().device).toMatch(/tiny\.gguf on llama\.cpp at /)
    expect(Object.keys(server.describe().missing)).toEqual(['train'])
  })

  it('matches the embedded engine', async () => {
    for (const text of texts) {
      const prompt = tokenizer.encodeIds(text).slice(0, 6)
      const request = { prompt, maxTokens: 24, temperature: 0 }
      const [[there], [here]] = await Promise.all([server.sample(request), embedded.sample(request)])
      // Its output ends early if the last character is incomplete.
      const reported = there!.tokens.length
      expect(reported).toBeGreaterThan(20)
      expect([...there!.tokens]).toEqual([...here!.tokens].slice(0, reported))
      for (const [at, logprob] of there!.modelLogprobs.entries()) {
        if (Number.isNaN(logprob)) continue
        expect(Math.abs(logprob - here!.modelLogprobs[at]!)).toBeLessThan(1e-3)
      }
    }
  })

  it('reports log-probabilities that match forward, and repeats with the same seed', async () => {
    const prompt = [...tokenizer.encodeIds('function add')]
    const request = { prompt, maxTokens: 20, seed: 11, stopTokens: [tokenizer.eosId!] }
    const [[sample], [again]] = [await server.sample(request), await server.sample(request)]
    expect([...again!.tokens]).toEqual([...sample!.tokens])
    const tokens = [...prompt, ...sample!.tokens]
    const { logprobs } = await embedded.forward([{ tokens, weights: tokens.map(() => 1) }])
    const reported = [...sample!.logprobs.entries()].filter(([, logprob]) => !Number.isNaN(logprob))
    expect(reported.length).toBeGreaterThan(5)
    for (const [at, logprob] of reported) {
      expect(Math.abs(logprob - logprobs[0]![prompt.length + at]!)).toBeLessThan(1e-2)
    }
  })

  it('respects a mask and a stop string', async () => {
    const prompt = tokenizer.encodeIds('The quick')
    const allowed = new Uint8Array(server.describe().vocabularySize)
    const [e, x] = [tokenizer.encodeIds('e')[0]!, tokenizer.encodeIds('x')[0]!]
    allowed[e] = 1
    allowed[x] = 1
    const [masked] = await server.sample({ prompt, maxTokens: 8, seed: 1, allowed: () => allowed })
    expect(masked!.tokens).toHaveLength(8)
    expect([...masked!.tokens].every((token) => token === e || token === x)).toBe(true)
    const [stopped] = await server.sample({
      prompt,
      maxTokens: 40,
      temperature: 0,
      stopTexts: ['jumps over'],
    })
    expect(stopped!.stopped).toBe('text')
    expect(tokenizer.decode(stopped!.tokens)).toBe(' brown fox jumps over')
  })
})

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => probe.once('listening', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
