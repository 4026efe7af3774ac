import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportGguf, openEmbedded } from '../../src/engine/index.ts'
import { buildPrompt, loadGrammar } from '../../src/language/grammar/index.ts'
import { encodePrompt, openTokenizer } from '../../src/language/tokens/index.ts'
import { suites } from '../../src/tasks/index.ts'
import { llamaCppPackage } from '../engine/gguf/llama-cpp-package.ts'
import type { LlamaCppAnswer, LlamaCppJob } from '../engine/gguf/run-llama-cpp.ts'

const nano = fileURLToPath(new URL('../../models/nano', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'coa-same-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const questions = 50
const count = 24

const llamaCpp = llamaCppPackage()
if ('missing' in llamaCpp) console.warn(`SKIPPED: greedy output of llama.cpp: ${llamaCpp.missing}`)
const python = [process.env['COA_TEST_TRAINER_PYTHON'] ?? [], 'python3']
  .flat()
  .find((name) => spawnSync(name, ['-c', 'import torch, transformers']).status === 0)
if (python === undefined)
  console.warn('SKIPPED: greedy output of transformers: COA_TEST_TRAINER_PYTHON names no Python that has it')

let prompts: number[][]
let greedy: number[][]
beforeAll(async () => {
  const tokenizer = await openTokenizer(nano)
  const grammars = { math: await loadGrammar('math'), search: await loadGrammar('web') }
  prompts = Array.from({ length: questions }, (_, index) => {
    const suite = index % 2 === 0 ? 'math' : 'search'
    const { question } = suites
      .get(suite)!
      .generate({ seed: 5, split: 'test', index, level: suite === 'math' ? 1 : 2 })
    return [...encodePrompt(tokenizer, buildPrompt(grammars[suite], question))]
  })
  const engine = await openEmbedded({ model: nano, threads: 1 })
  greedy = await Promise.all(
    prompts.map(async (prompt) => [
      ...(await engine.sample({ prompt, maxTokens: count, temperature: 0 }))[0]!.tokens,
    ]),
  )
  await engine.close()
}, 300_000)

describe(`the greedy output of nano for ${questions} questions is the same`, () => {
  it.skipIf('missing' in llamaCpp)('in llama.cpp, from a file of type F16', { timeout: 300_000 }, () => {
    const file = join(root, 'nano.gguf')
    exportGguf(nano, file, { type: 'F16' })
    const job: LlamaCppJob = {
      folder: 'folder' in llamaCpp ? llamaCpp.folder : '',
      model: file,
      prompts,
      texts: [],
      count,
      contextSize: 512,
    }
    const program = fileURLToPath(new URL('../engine/gguf/run-llama-cpp.ts', import.meta.url))
    const { stdout, stderr, status } = spawnSync(process.execPath, [program], {
      encoding: 'utf8',
      maxBuffer: 1 << 26,
      input: JSON.stringify(job),
    })
    expect(status, stderr.slice(-2000)).toBe(0)
    expect((JSON.parse(stdout.trim().split('\n').at(-1)!) as LlamaCppAnswer).tokens).toEqual(greedy)
  })

  it.skipIf(python === undefined)('in transformers', { timeout: 600_000 }, () => {
    const file = join(root, 'prompts.json')
    writeFileSync(file, JSON.stringify({ model: nano, prompts, count }))
    const program = fileURLToPath(new URL('./greedy.py', import.meta.url))
    const { stdout, stderr, status } = spawnSync(python!, [program, file], { encoding: 'utf8' })
    expect(status, stderr.slice(-2000)).toBe(0)
    expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toEqual(greedy)
  })
})
