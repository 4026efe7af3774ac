import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { separated } from '../../deploy/client/words.ts'
import { type DeployTarget, deployModel, deployTargets } from '../../src/deploy/index.ts'
import { readGguf } from '../../src/engine/gguf/index.ts'
import { byteTokenizerWithTags, newModel, shapeOfSizes } from '../../src/engine/index.ts'
import { buildPrompt, loadGrammar } from '../../src/language/grammar/index.ts'
import { encodePrompt, openTokenizer } from '../../src/language/tokens/index.ts'
import { howMany } from '../how-many.ts'

const nano = fileURLToPath(new URL('../../models/nano', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'coa-deploy-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const createdAt = '2026-01-01T00:00:00Z'
const grammar = await loadGrammar('all-tools')
let count = 0
/** It is not TypeScript. */
const { Tokenizer } = (await import(new URL('../../deploy/browser/tokenizer.js', import.meta.url).href)) as {
  Tokenizer: new (json: unknown) => { encode(text: string): number[]; decode(ids: number[]): string }
}

const deploy = (target: DeployTarget, more: Partial<Parameters<typeof deployModel>[0]> = {}) =>
  deployModel({
    target,
    model: nano,
    out: join(root, `out-${count++}`),
    name: 'mine',
    grammar,
    limits: { maxTokens: 400, maxTurns: 5 },
    createdAt,
    ...more,
  })
const read = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8')

describe.each(Object.keys(deployTargets) as DeployTarget[])('a folder for %s', (target) => {
  it('has everything that its README names', async () => {
    const { folder, files } = await deploy(target)
    const names = new Set(files.map(({ name }) => name))
    const table = read(folder, 'README.md').split('## Files')[1]!
    for (const [, name] of table.matchAll(/`([\w./-]+)`/g))
      expect(
        [...names].some((each) => each === name || each.startsWith(name!)),
        name,
      ).toBe(true)
    for (const name of [...names].filter((each) => each !== 'README.md'))
      expect(/words\.|post\.py/.test(name) || table.includes(name.split('/')[0]!), name).toBe(true)
    const config = JSON.parse(read(folder, 'coa.json')) as {
      prompt: { before: string; after: string }
      stop: string[]
    }
    expect(config.stop).toEqual(
      [...grammar.agents.values()]
        .filter(({ kind }) => kind === 'tool' || kind === 'answer')
        .map(({ tag }) => `</${tag}>`),
    )
    const tokenizer = await openTokenizer(nano)
    const text = `${config.prompt.before}Why?${config.prompt.after}`
    expect([...tokenizer.encodeIds(text, { specials: 'recognize' })]).toEqual([
      ...encodePrompt(tokenizer, buildPrompt(grammar, 'Why?')),
    ])
    // Nothing is left behind next to it.
    expect(readdirSync(root).filter((name) => name.startsWith('.'))).toEqual([])
  })
})

it('imports nothing that the folder does not have', async () => {
  for (const target of Object.keys(deployTargets) as DeployTarget[]) {
    const { folder } = await deploy(target)
    for (const name of readdirSync(folder)) {
      if (!/\.(ts|js)$/.test(name)) continue
      for (const [, path] of read(folder, name).matchAll(/from '(\.\/[^']+)'/g))
        expect(existsSync(join(folder, path!)), `${target}: ${name} imports ${path}`).toBe(true)
    }
  }
})

it('has the same tool loop for browsers: node scripts/browser-loop.ts', () => {
  const folder = new URL('../../deploy/', import.meta.url)
  const plain = (text: string): string =>
    text.replaceAll(/\/\*\*[\s\S]*?\*\//g, '').replaceAll(/\s+|[,;]/g, '')
  const source = readFileSync(new URL('client/loop.ts', folder), 'utf8')
  const stripped = stripTypeScriptTypes(source)
  expect(plain(read(fileURLToPath(new URL('browser', folder)), 'loop.js'))).toBe(plain(stripped))
})

it('quantizes for the targets that take GGUF files', async () => {
  const { folder, gguf } = await deploy('ollama', { quantize: 'Q4_K_M' })
  expect(gguf?.types).toEqual({ F32: 13, Q5_0: 38, Q8_0: 5 })
  expect(readGguf(join(folder, 'model.gguf')).tensors.get('token_embd.weight')!.type).toBe('Q8_0')
  await expect(deploy('vllm', { quantize: 'Q8_0' })).rejects.toThrow(/--quantize works only for/)
  await expect(deploy('ollama', { out: folder })).rejects.toThrow(/already exists/)
})

it("writes Ollama's template with the system prompt of models that have one", async () => {
  const model = join(root, 'with-system')
  const shape = shapeOfSizes({ width: 32, layers: 1, heads: 1, feedForwardWidth: 32, contextLength: 128 })
  await newModel(model, { shape, tokenizer: byteTokenizerWithTags(['<think>']), seed: 1, createdAt })
  const { folder } = await deploy('ollama', { model })
  const file = read(folder, 'Modelfile')
  expect(file).toMatch(
    /^TEMPLATE """<\|im_start\|>system\n\{\{ \.System \}\}<\|im_end\|>\n<\|im_start\|>user\n\{\{ \.Prompt \}\}<\|im_end\|>\n<\|im_start\|>assistant\n\{\{ \.Response \}\}<\|im_end\|>\n?"""$/m,
  )
  expect(file).toContain('SYSTEM """You answer one question by playing several agents')
  for (const stop of ['<|im_end|>', '</code>', '</answer>'])
    expect(file).toContain(`PARAMETER stop ${JSON.stringify(stop)}`)
  expect(file).toContain('PARAMETER num_ctx 128')
})

describe('the tokenizers of the clients', async () => {
  const tokenizer = await openTokenizer(nano)
  const inBrowser = new Tokenizer(JSON.parse(read(nano, 'tokenizer.json')))
  const text = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          '<think>',
          '</code>',
          ' ',
          '  ',
          '\n',
          'The ',
          'the',
          ' Cat',
          '12',
          '. ',
          '```py',
          '\\boxed{',
        ),
        fc.string({ unit: 'grapheme', maxLength: 8 }),
      ),
    )
    .map((parts) => parts.join('').replaceAll('\u001f', ''))

  it('give the same ids in a browser, and the text back', () => {
    fc.assert(
      fc.property(text, (written) => {
        const ids = inBrowser.encode(written)
        expect(ids).toEqual([...tokenizer.encodeIds(written, { specials: 'recognize' })])
        expect(inBrowser.decode(ids)).toBe(written)
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('separate words without changing them', async () => {
    const { folder } = await deploy('llama-server')
    const config = JSON.parse(read(folder, 'coa.json'))
    const json = JSON.parse(read(nano, 'tokenizer.json'))
    // Like llama.cpp with such a file, it splits nothing by itself.
    const oneWord = new Tokenizer({ ...json, pre_tokenizer: { type: 'Sequence', pretokenizers: [] } })
    fc.assert(
      fc.property(text, (written) => {
        const parts = separated(written, config).split('\u001f')
        expect(parts.join('')).toBe(written.replaceAll('\u001f', ''))
        const ids = parts.flatMap((part) => oneWord.encode(part))
        expect(ids).toEqual([...tokenizer.encodeIds(written, { specials: 'recognize' })])
      }),
      { numRuns: howMany(10_000) },
    )
  })
})
