import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTokenizer } from '../../src/language/tokens/index.ts'
import { EvalReport } from '../../src/schema/index.ts'
import { createRun } from '../../src/store/index.ts'
import { suites } from '../../src/tasks/index.ts'
import { coaAsync, type Outcome } from '../cli/coa.ts'
import { exampleSequences } from '../export/support.ts'
import { FakeHub } from './fake-hub.ts'

const nano = fileURLToPath(new URL('../../models/nano', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'coa-publish-'))
const checkpoint = join(root, 'runs', 'one', 'checkpoints', 'sft')
let hub: FakeHub

beforeAll(async () => {
  hub = await new FakeHub().start()
  const run = createRun(join(root, 'runs'), {
    id: 'one',
    coa: '0.1.0',
    command: 'coa quickstart',
    configToml: '[student]\nmodel = "nano"\n\n[sft]\nepochs = 3\nlearning_rate = 0.001\n',
  })
  const task = suites.get('math')!.generate({ seed: 1, split: 'train', index: 0, level: 1 })
  run.append('task', task)
  for (const sequence of exampleSequences().filter(({ grammar }) => grammar === 'math'))
    run.append('sequence', sequence)
  writeFileSync(join(run.dir, 'eval', 'eval.json'), JSON.stringify(report()))
  run.close()
  cpSync(nano, checkpoint, { recursive: true })
})
afterAll(() => {
  hub.close()
  rmSync(root, { recursive: true, force: true })
})

function report(): EvalReport {
  const estimate = { value: 0.8, low: 0.7, high: 0.9 }
  const shares = { strict: estimate, decided: estimate }
  const counts = { attempts: 100, correct: 80, wrong: 20, unanswered: 1, undecided: 0, failed: 0, retried: 0 }
  const tokens = {
    prompt: estimate,
    completion: estimate,
    tool: estimate,
    once: { value: 299, low: 290, high: 310 },
    billed: estimate,
  }
  return EvalReport.parse({
    v: 1,
    id: 'eval',
    settings: { seed: 1, resamples: 100, prices: {}, picker: '' },
    suites: [{ suite: 'math', tasks: 100 }],
    solvers: [
      {
        name: 'sft',
        kind: 'model',
        tokenizer: 'nano',
        tasks: 100,
        attempts: 1,
        counts,
        accuracy: shares,
        pass: [],
        majority: null,
        best: null,
        wellFormed: 0.98,
        tokens,
        tokensPerSuccess: { once: null, billed: null },
        calls: { value: 2, low: 1, high: 3 },
        callsPerSuccess: null,
        requests: estimate,
        ms: estimate,
        cost: null,
        by: [{ field: 'suite', value: 'math', tasks: 100, ...shares, once: 299 }],
      },
    ],
    pairs: [],
    items: [],
  })
}

const publish = (words: string[], environment: Record<string, string> = {}): Promise<Outcome> =>
  coaAsync(['publish', checkpoint, ...words], {
    cwd: root,
    environment: { HF_TOKEN: '', HF_ENDPOINT: hub.url, ...environment },
  })

it('writes a folder whose cards say what the run contains', { timeout: 120_000 }, async () => {
  const { code, stdout, stderr } = await publish(['--repo', 'me/model', '--dry-run'])
  expect(code, stderr).toBe(0)
  expect(stdout).toContain('nothing was pushed')
  expect(hub.requests).toEqual([])
  const folder = join(root, 'model-hub')
  expect(readdirSync(join(folder, 'model')).sort()).toEqual([
    'README.md',
    'coa.json',
    'config.json',
    'generation_config.json',
    'model.safetensors',
    'tokenizer.json',
    'tokenizer_config.json',
  ])
  const card = readFileSync(join(folder, 'model', 'README.md'), 'utf8')
  for (const text of [
    '\nlicense: "apache-2.0"\n',
    '"type":"accuracy","value":80,"name":"accuracy in %, 100 tasks, 95% interval 70.0% to 90.0%"',
    '| base model | nano |',
    '| learning_rate | 0.001 |',
    '| **sft** (this model) | 80.0% [70.0%, 90.0%] | 80 of 100 | 299 | 2.0 |',
    'evaluated only on `math`',
    '`<code>`',
  ])
    expect(card).toContain(text)
  const data = readFileSync(join(folder, 'dataset', 'data.jsonl'), 'utf8')
    .trim()
    .split('\n')
  expect(data).toHaveLength(1)
  expect(readFileSync(join(folder, 'dataset', 'README.md'), 'utf8')).toContain('"path":"data.jsonl"')
  // Nothing of this machine.
  for (const part of ['model', 'dataset'])
    for (const name of readdirSync(join(folder, part)))
      expect(readFileSync(join(folder, part, name)).includes(root), name).toBe(false)
  // It opens like any model.
  expect((await openTokenizer(join(folder, 'model'))).vocabularySize).toBe(2048)
})

it('pushes the folder as it was edited, and only once', { timeout: 120_000 }, async () => {
  const card = join(root, 'model-hub', 'model', 'README.md')
  writeFileSync(card, `${readFileSync(card, 'utf8')}\nMy own words.\n`)
  const words = ['--repo', 'me/model', '--dataset', 'me/data', '--public']
  const { code, stdout, stderr } = await publish(words, { HF_TOKEN: hub.token })
  expect(code, stderr).toBe(0)
  expect(stdout).toContain(`${hub.url}/me/model: 7 files pushed`)
  expect(stdout).toContain(`${hub.url}/datasets/me/data: 2 files pushed`)
  expect(String(hub.repositories.get('models/me/model')!.get('README.md'))).toContain('My own words.')
  expect(hub.repositories.get('datasets/me/data')!.size).toBe(2)
  expect(`${stdout}${stderr}`).not.toContain(hub.token)
  const again = await publish(words, { HF_TOKEN: hub.token })
  expect(again.stdout).toContain('/me/model: already up to date')
})

it('says what is missing, before it writes or pushes anything', { timeout: 120_000 }, async () => {
  const line = async (words: string[], environment = {}) => {
    const { code, stderr } = await publish(words, environment)
    return `${code} ${stderr.trim()}`
  }
  expect(await line(['--repo', 'me/model'])).toMatch(/^2 coa: HF_TOKEN is not set/)
  expect(await line(['--repo', 'model'])).toMatch(/^2 coa: --repo model is not the name of a repository/)
  expect(await line(['--repo', 'me/model'], { HF_TOKEN: 'wrong' })).toMatch(
    /rejected the token in HF_TOKEN: Invalid/,
  )
  expect(await line(['--repo', 'me/another', '--out', 'model-hub'], { HF_TOKEN: hub.token })).toMatch(
    /model-hub already exists/,
  )
})
