import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sanitize } from '../../src/cli/sanitize.ts'
import { writeTensors } from '../../src/engine/checkpoint/safetensors-write.ts'
import { openCheckpoint } from '../../src/engine/index.ts'
import { cleanEnvironment, coa, coaJson } from './coa.ts'

let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'coa-cli-model-'))
  const sizes = ['--width', '32', '--heads', '4', '--layers', '1', '--context', '128', '--seed', '3']
  expect(coa(['model', 'new', 'tiny', ...sizes], { cwd }).code).toBe(0)
  writeFileSync(join(cwd, 'words.txt'), 'the cat sat on the mat, and the cat ate the rat. '.repeat(20))
  mkdirSync(join(cwd, 'other'))
  writeFileSync(join(cwd, 'other', 'notes.txt'), 'mine')
})
afterAll(() => rmSync(cwd, { recursive: true }))

interface Generated {
  seed: number
  prompt: number[]
  samples: { text: string; stopped: string; tokens: number[]; logprobs: number[] }[]
}

describe('model', () => {
  it('describes a model', () => {
    const report = coaJson<Record<string, unknown>>(['model', 'inspect', 'tiny', '--verify'], { cwd })
    expect(report).toMatchObject({
      shape: { family: 'llama', width: 32, layers: 1, heads: 4, keyValueHeads: 2, contextLength: 128 },
      tokenizer: { vocabularySize: 259, chatTemplate: true },
      manifest: { stage: 'init', metadata: { seed: 3 } },
      verified: true,
    })
    const { stdout } = coa(['model', 'inspect', 'tiny'], { cwd })
    expect(stdout).toMatch(/parameters +\d/)
    expect(stdout).toContain('4 of width 8, 2 key-value heads')
    expect(stdout).toContain('not saved')
  })

  it("trains a tokenizer on texts and records, with a grammar's tags", () => {
    writeFileSync(join(cwd, 'rows.jsonl'), '{"body":"a dog and a dog"}\n\n{"body":"a dog"}\n')
    const files = ['words.txt', 'rows.jsonl']
    const learn = ['--train-tokenizer', ...files, '--field', 'body', '--vocabulary', '300', '-g', 'math']
    const made = coaJson<{ shape: { vocabularySize: number }; tokenizer: { texts: number } }>(
      ['model', 'new', 'learned', ...learn, '--layers', '1'],
      { cwd },
    )
    expect(made.shape.vocabularySize).toBeLessThanOrEqual(300)
    expect(made.tokenizer).toMatchObject({ texts: 3 })
    expect(readFileSync(join(cwd, 'learned', 'tokenizer.json'), 'utf8')).toContain('"</answer>"')
    expect(coa(['model', 'new', 'none', '--train-tokenizer', 'rows.jsonl'], { cwd }).stderr).toContain(
      'rows.jsonl:1 has no text in "text"; it has body. Give the name of the field that contains the text with --field.',
    )
  })

  it('exports to GGUF and ONNX, imports GGUF, and overwrites nothing', () => {
    const written = coaJson<{ gguf: { type: string; tensors: number; widened: unknown[] } }>(
      ['model', 'export', 'tiny', 'tiny.gguf', '--gguf', '--type', 'q8_0'],
      { cwd },
    )
    expect(written.gguf).toMatchObject({ type: 'Q8_0', tensors: 11, widened: [] })
    const again = coa(['model', 'export', 'tiny', 'tiny.gguf', '--gguf'], { cwd })
    expect(again.stderr).toContain('tiny.gguf already exists. Choose another file')
    expect(again.code).not.toBe(0)
    const imported = coaJson<Record<string, unknown>>(['model', 'import', 'tiny.gguf', 'imported'], { cwd })
    expect(imported).toMatchObject({ types: { Q8_0: 8, F32: 3 }, shape: { width: 32, layers: 1 } })
    expect(coa(['model', 'import', 'tiny.gguf', 'other'], { cwd }).stderr).toContain(
      'is not a coa checkpoint',
    )
    expect(coa(['model', 'import', 'words.txt', 'nothing'], { cwd }).stderr).toContain(
      'words.txt is not a valid GGUF file: it does not start with GGUF',
    )
    const { stdout } = coa(['model', 'export', 'tiny', 'out.onnx', '--onnx'], { cwd })
    expect(stdout).toContain('input ids: int64 [1, time]')
    for (const [args, message] of [
      [[], 'no format given'],
      [['--gguf', '--onnx'], '--gguf and --onnx are mutually exclusive'],
      [['--onnx', '--type', 'f16'], '--type works only with --gguf'],
    ] as const) {
      const { stderr, code } = coa(['model', 'export', 'tiny', 'never', ...args], { cwd })
      expect(stderr).toContain(message)
      expect(code).toBe(2)
    }
    expect(coa(['model', 'export', 'tiny', 'never', '--peft'], { cwd }).stderr).toContain(
      'is a full model, not an adapter',
    )
  })

  it('merges an adapter, and reports what is missing', () => {
    const { stderr, code } = coa(['model', 'merge-lora', 'tiny', 'tiny', 'merged'], { cwd })
    expect(stderr).toContain('tiny has no adapter_config.json. It is a full model')
    expect(code).not.toBe(0)
    const projection = 'base_model.model.model.layers.0.self_attn.q_proj'
    mkdirSync(join(cwd, 'adapter'))
    writeFileSync(
      join(cwd, 'adapter', 'adapter_config.json'),
      JSON.stringify({ peft_type: 'LORA', r: 1, lora_alpha: 2 }),
    )
    const tensor = { shape: [1, 32], values: new Float32Array(32).fill(0.5) }
    writeTensors(
      join(cwd, 'adapter', 'adapter_model.safetensors'),
      new Map([
        [`${projection}.lora_A.weight`, tensor],
        [`${projection}.lora_B.weight`, { ...tensor, shape: [32, 1] }],
      ]),
    )
    const merged = coaJson<Record<string, unknown>>(['model', 'merge-lora', 'tiny', 'adapter', 'merged'], {
      cwd,
    })
    expect(merged).toMatchObject({ changed: 1, ranks: [1] })
    const name = 'model.layers.0.self_attn.q_proj.weight'
    const [before, after] = ['tiny', 'merged'].map(
      (path) => openCheckpoint(join(cwd, path)).weights.get(name)!,
    )
    for (const [index, value] of before!.values.entries()) {
      expect(after!.values[index]).toBeCloseTo(value + 0.5, 5)
    }
  })

  it('converts to another dtype and to ONNX, and detects a changed file', () => {
    const convert = ['model', 'convert', 'tiny', 'half', '--dtype', 'f16', '--onnx', 'tiny.onnx']
    const converted = coaJson<Record<string, { bytes: number }>>(convert, { cwd })
    expect(converted['checkpoint']!.bytes).toBeGreaterThan(1000)
    expect(readFileSync(join(cwd, 'tiny.onnx')).length).toBe(converted['onnx']!.bytes)
    writeFileSync(join(cwd, 'half', 'tokenizer_config.json'), '{}')
    const { code, stderr } = coa(['model', 'inspect', 'half', '--verify'], { cwd })
    expect(code).toBe(5)
    expect(stderr).toContain('tokenizer_config.json has 2 bytes instead of')
  })
})

describe('generate', () => {
  const generate = (...args: string[]): string[] => ['generate', '-m', 'tiny', '-n', '12', ...args]

  it('continues a text, the same for the same seed, and prints statistics to standard error', () => {
    const { code, stdout, stderr } = coa(generate('Hello', '--seed', '4'), { cwd })
    expect(code).toBe(0)
    expect(stderr).toMatch(/^12 tokens, [\d,]+ tokens\/s, stopped at --max-tokens, seed 4\n$/)
    const again = coaJson<Generated>(generate('Hello', '--seed', '4'), { cwd })
    expect(again.prompt).toEqual([...Buffer.from('Hello')])
    expect(again.samples[0]).toMatchObject({
      stopped: 'length',
      tokens: { length: 12 },
      logprobs: { length: 12 },
    })
    expect(stdout.trimEnd()).toBe(sanitize(again.samples[0]!.text).trimEnd())
  })

  it('reads standard input, applies the chat template, and samples several texts', () => {
    const piped = coaJson<Generated>(generate('--count', '2', '--seed', '7'), { cwd, input: 'Hello\n' })
    expect(piped.prompt).toEqual([...Buffer.from('Hello')])
    expect(piped.samples.length).toBe(2)
    expect(piped.samples[0]!.tokens).not.toEqual(piped.samples[1]!.tokens)
    const chat = coaJson<Generated>(generate('--chat', 'Hi', '--system', 'Be kind.', '--top-k', '3'), { cwd })
    expect(chat.prompt.filter((id) => id === 257).length).toBe(3)
    expect(coa(generate('a', '--count', '2'), { cwd }).stdout).toContain('── 2 of 2\n')
  })

  it('stops after a stop text, which is included', () => {
    const { samples } = coaJson<Generated>(generate('a', '--temperature', '0', '-n', '5'), { cwd })
    const stop = [...samples[0]!.text][0]!
    const stopped = coaJson<Generated>(generate('a', '--temperature', '0', '--stop', stop), { cwd })
    expect(stopped.samples[0]).toMatchObject({ stopped: 'text', text: stop })
  })

  it('keeps what was sampled when interrupted by Ctrl-C', async () => {
    const launcher = fileURLToPath(new URL('../../bin/coa.js', import.meta.url))
    const sizes = ['--width', '32', '--layers', '1', '--context', '200000']
    expect(coa(['model', 'new', 'long', ...sizes], { cwd }).code).toBe(0)
    // Greedy, so that an untrained model never samples its end token by chance.
    const long = ['generate', '-m', 'long', 'a', '-n', '100000', '--temperature', '0']
    const child = spawn(process.execPath, [launcher, ...long], { cwd, env: cleanEnvironment() })
    let stderr = ''
    child.stderr.on('data', (part) => {
      stderr += part
    })
    child.stdout.once('data', () => child.kill('SIGINT'))
    child.stdout.resume()
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(130)
    expect(stderr).toMatch(/^[\d,]+ tokens, .*interrupted by Ctrl-C, seed \d+\n$/)
  })
})

describe('engine', () => {
  it('passes its self-check on this machine', () => {
    const report = coaJson<{ ok: boolean; checks: object[] }>(['engine', 'contract', '--threads', '1'], {
      cwd,
    })
    expect(report).toMatchObject({ ok: true, checks: { length: 5 } })
    const { stdout } = coa(['engine', 'contract', '-m', 'tiny'], { cwd })
    expect(stdout).toContain('✓ ok  sampler matches learner')
  })

  it('measures its throughput', () => {
    const bench = ['engine', 'bench', '-m', 'tiny', '--seconds', '0.1']
    const speed = coaJson<{ training: { tokensPerSecond: number }; sampling: { batch: number }[] }>(bench, {
      cwd,
    })
    expect(speed.training.tokensPerSecond).toBeGreaterThan(0)
    expect(speed.sampling.map(({ batch }) => batch)).toEqual([1, 8, 32, 128])
  })
})

it.each<[string[], number, string]>([
  [['model', 'inspect', 'nowhere'], 5, 'no checkpoint at'],
  [['model', 'new', 'tiny'], 2, '--force'],
  [['model', 'new', 'other'], 5, 'is not a coa checkpoint'],
  [['model', 'new', 'x', '--width', '100', '--heads', '7'], 5, 'multiple of 14'],
  [['model', 'new', 'x', '--heads', '4', '--kv-heads', '3'], 5, 'evenly'],
  [['model', 'new', 'x', '--layers', 'two'], 2, '--layers two is not a whole number'],
  [['model', 'new', 'x', '--preset', 'huge'], 2, 'nano, micro, mini'],
  [['model', 'new', 'x', '--vocabulary', '500'], 2, '--train-tokenizer'],
  [['model', 'new', 'x', '--tied', '--untied'], 2, 'mutually exclusive'],
  [['model', 'new', 'x', '-t', 'tiny', '--train-tokenizer', 'words.txt'], 2, 'mutually exclusive'],
  [['model', 'new', 'x', '-t', 'tiny', '-g', 'web'], 2, 'cannot be added'],
  [['model', 'new', 'x', '--train-tokenizer', 'nowhere.txt'], 2, 'nowhere.txt'],
  [['model', 'new', 'x', '--train-tokenizer', 'nowhere.jsonl'], 2, 'nowhere.jsonl'],
  [['model', 'new', 'x', '-g', 'wbe'], 2, 'Did you mean "web"?'],
  [['model', 'convert', 'tiny'], 2, '--onnx FILE.onnx'],
  [['model', 'convert', 'tiny', 'tiny'], 5, 'onto itself'],
  [['model', 'convert', 'tiny', 'x', '--shard', 'lots'], 2, '500MB'],
  [['model', 'convert', 'tiny', '--onnx', 'x.onnx', '--dtype', 'f16'], 2, 'always float32'],
  [['model', 'convert', 'tiny', '--onnx', 'nowhere/x.onnx'], 5, 'nowhere/x.onnx'],
  [['generate', 'hello'], 2, '--model'],
  [['generate', '-m', 'tiny', ''], 2, 'the prompt is empty'],
  [['generate', '-m', 'tiny', 'a', '--top-p', '2'], 2, 'from 0 to 1'],
  [['generate', '-m', 'tiny', 'a', '--system', 'b'], 2, 'Add --chat'],
  [['generate', '-m', 'tiny', 'a'.repeat(200)], 5, "200 tokens, but the model's context is 128"],
  [['engine', 'contract', '--device', 'tpu'], 2, 'cpu, wasm, webgpu'],
])('%j exits %i in one line', (args, code, text) => {
  const outcome = coa(args, { cwd })
  expect(outcome.stderr).toContain(text)
  expect(outcome.code).toBe(code)
  expect(outcome.stdout).toBe('')
  expect(outcome.stderr.trim().split('\n').length).toBe(1)
})

it('every command has help with an example, and accepts --json', () => {
  for (const command of [
    'model inspect',
    'model new',
    'model convert',
    'generate',
    'engine contract',
    'engine bench',
  ]) {
    const { stdout } = coa([...command.split(' '), '--help'], { cwd })
    expect(stdout, command).toContain('$ coa')
    expect(stdout, command).toContain('--json')
  }
})
