import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configOf, tinyLlama } from '../../../test/engine/checkpoint/tiny-models.ts'
import { temporaryFolder } from '../../../test/store/support/temporary-folder.ts'
import { Checkpoint } from '../../schema/index.ts'
import { fingerprintOfFolder, openCheckpoint, verifyCheckpoint } from './checkpoint.ts'
import { MANIFEST_FILE } from './checkpoint-manifest.ts'
import { EngineError } from './engine-error.ts'
import { readOptimizerState } from './optimizer-state.ts'
import { randomWeights } from './random-weights.ts'
import { writeTensors } from './safetensors-write.ts'
import { type CheckpointContents, saveCheckpoint } from './save-checkpoint.ts'
import type { StoredTensors } from './stored-tensor.ts'
import { readTokenizerFiles } from './tokenizer-files.ts'
import { parameterCount } from './weight-names.ts'

const createdAt = '2026-01-02T03:04:05.000Z'

type InMemory = Omit<CheckpointContents, 'weights'> & { weights: StoredTensors }

function contents(seed: number, changes: Partial<InMemory> = {}): InMemory {
  const weights = randomWeights(tinyLlama, seed)
  return { shape: tinyLlama, weights, stage: 'sft', step: seed, createdAt, ...changes }
}

test('a saved checkpoint is opened, verified and described', () => {
  const folder = join(temporaryFolder(), 'runs', 'a', 'step-10')
  const optimizer = {
    step: 10,
    metadata: { name: 'adamw' },
    tensors: new Map([['m.x', { shape: [2], values: Float32Array.of(1, 2) }]]),
  }
  const given = contents(1, {
    optimizer,
    files: { 'tokenizer.json': '{}', 'chat_template.jinja': 'x' },
    parent: { id: 'p', fingerprint: 'a'.repeat(64), path: '../step-0' },
    metrics: { loss: 0.5 },
    metadata: { note: ['free', 1] },
  })
  const manifest = saveCheckpoint(folder, given)
  const opened = openCheckpoint(folder)
  expect(opened.shape).toEqual(tinyLlama)
  expect(opened.weights).toEqual(given.weights)
  expect(opened.manifest).toEqual(manifest)
  expect(verifyCheckpoint(folder)).toEqual(manifest)
  expect(readOptimizerState(folder)).toEqual(optimizer)
  expect(opened.files).toEqual([...manifest.files.map(({ path }) => path), MANIFEST_FILE].sort())
  expect(manifest).toMatchObject({
    path: 'step-10',
    parent: 'p',
    parameters: parameterCount(tinyLlama),
    metadata: { note: ['free', 1] },
  })
  expect(Checkpoint.parse(manifest)).toMatchObject({ id: manifest.id, files: manifest.files })
  expect(fingerprintOfFolder(folder)).toBe(manifest.fingerprint)
  expect(readdirSync(join(folder, '..'))).toEqual(['step-10'])
  // vLLM loads every *.safetensors file that an index does not exclude.
  const index = JSON.parse(readFileSync(join(folder, 'model.safetensors.index.json'), 'utf8'))
  expect(new Set(Object.values(index.weight_map))).toEqual(new Set(['model.safetensors']))
  expect(Object.keys(readTokenizerFiles(folder))).toEqual(['tokenizer.json', 'chat_template.jinja'])
})

test('the same contents have the same fingerprint, other weights another', () => {
  const folder = temporaryFolder()
  const save = (name: string, seed: number) => saveCheckpoint(join(folder, name), contents(seed)).fingerprint
  expect(save('a', 1)).toBe(save('b', 1))
  expect(save('c', 2)).not.toBe(save('a', 1))
})

test('16-bit types and shards are opened too', () => {
  const folder = temporaryFolder()
  const given = contents(3, { elementType: 'BF16', maxShardBytes: 2000 })
  saveCheckpoint(join(folder, 'x'), given)
  const { weights, files } = openCheckpoint(join(folder, 'x'))
  expect(files.filter((name) => name.endsWith('.safetensors')).length).toBeGreaterThan(3)
  for (const [name, { values }] of given.weights) {
    weights.get(name)!.values.forEach((value, i) => {
      expect(Math.abs(value - values[i]!)).toBeLessThanOrEqual(Math.abs(values[i]!) / 256)
    })
  }
  expect(JSON.parse(readFileSync(join(folder, 'x', 'config.json'), 'utf8')).torch_dtype).toBe('bfloat16')
})

test('saving again replaces the checkpoint and keeps unrelated files', () => {
  const folder = join(temporaryFolder(), 'latest')
  saveCheckpoint(folder, contents(1, { maxShardBytes: 2000, files: { 'tokenizer.json': '{}' } }))
  writeFileSync(join(folder, 'README.md'), 'mine')
  mkdirSync(join(folder, 'notes'))
  writeFileSync(join(folder, 'notes', 'a'), 'mine too')
  saveCheckpoint(folder, contents(2))
  expect(openCheckpoint(folder).weights).toEqual(contents(2).weights)
  expect(readdirSync(folder).sort()).toEqual(
    [
      'README.md',
      MANIFEST_FILE,
      'config.json',
      'generation_config.json',
      'model.safetensors',
      'notes',
    ].sort(),
  )
  expect(readFileSync(join(folder, 'notes', 'a'), 'utf8')).toBe('mine too')
  expect(readdirSync(join(folder, '..'))).toEqual(['latest'])
})

test('a folder with other content is rejected, an empty one is accepted', () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'empty'))
  saveCheckpoint(join(folder, 'empty'), contents(1))
  writeFileSync(join(folder, 'file'), 'x')
  expect(() => saveCheckpoint(join(folder, 'file'), contents(1))).toThrow(/is not a coa checkpoint/)
  expect(() => saveCheckpoint(folder, contents(1))).toThrow(/is not a coa checkpoint/)
  expect(readdirSync(folder).sort()).toEqual(['empty', 'file'])
})

test('a checkpoint moved aside by a killed process is found, and put back by the next save', () => {
  const parent = temporaryFolder()
  const folder = join(parent, 'latest')
  saveCheckpoint(folder, contents(1))
  renameSync(folder, join(parent, '.latest.coa-previous'))
  expect(openCheckpoint(folder).weights).toEqual(contents(1).weights)
  verifyCheckpoint(folder)
  expect(() => saveCheckpoint(folder, contents(2, { createdAt: 'yesterday' }))).toThrow(/createdAt/)
  expect(readdirSync(parent)).toEqual(['latest'])
  expect(openCheckpoint(folder).weights).toEqual(contents(1).weights)
})

test('leftovers of killed processes are removed, files of running ones are kept', () => {
  const parent = temporaryFolder()
  const host = join(parent, 'latest')
  const { hostname } = process.getBuiltinModule('node:os')
  const dead = `.latest.${hostname()}-4194305-0123456789ab.tmp`
  const living = `.latest.${hostname()}-${process.pid}-0123456789ab.tmp`
  mkdirSync(join(parent, dead))
  mkdirSync(join(parent, living))
  saveCheckpoint(host, contents(1))
  expect(readdirSync(parent).sort()).toEqual([living, 'latest'].sort())
})

test.each<[string, Partial<InMemory>, RegExp]>([
  ['weights of another shape', { shape: { ...tinyLlama, width: 64 } }, /do not match/],
  ['an invalid time', { createdAt: 'yesterday' }, /invalid checkpoint metadata: createdAt/],
  ['a step below zero', { step: -1 }, /invalid checkpoint metadata: step/],
  ['a path as file name', { files: { '../x': '' } }, /invalid file names in a checkpoint: \.\.\/x/],
  [
    'a reserved file name',
    { files: { 'config.json': '' } },
    /invalid file names in a checkpoint: config.json/,
  ],
  ['a metric that is NaN', { metrics: { loss: Number.NaN } }, /metrics/],
])('%s is rejected and leaves nothing behind', (_, changes, message) => {
  const parent = temporaryFolder()
  expect(() => saveCheckpoint(join(parent, 'x'), contents(1, changes))).toThrow(EngineError)
  expect(() => saveCheckpoint(join(parent, 'x'), contents(1, changes))).toThrow(message)
  expect(readdirSync(parent)).toEqual([])
})

test('NaN is neither saved nor opened unless allowed', () => {
  const folder = join(temporaryFolder(), 'x')
  const given = contents(1)
  given.weights.get('model.norm.weight')!.values[0] = Number.NaN
  expect(() => saveCheckpoint(folder, given)).toThrow(/NaN or infinite values: model.norm.weight \(1 of 32\)/)
  expect(existsSync(folder)).toBe(false)
  saveCheckpoint(folder, { ...given, allowNonFinite: true })
  expect(() => openCheckpoint(folder)).toThrow(/NaN or infinite values: model.norm.weight \(1 of 32\)/)
  expect(openCheckpoint(folder, { allowNonFinite: true }).weights).toEqual(given.weights)
})

test('every change to a file is detected', () => {
  const folder = join(temporaryFolder(), 'x')
  saveCheckpoint(folder, contents(1, { files: { 'tokenizer.json': '{}' } }))
  const change = (name: string, edit: (bytes: Buffer) => Buffer) =>
    writeFileSync(join(folder, name), edit(readFileSync(join(folder, name))))
  change('model.safetensors', (bytes) => {
    bytes[bytes.length - 1]! ^= 1
    return bytes
  })
  change('config.json', (bytes) => Buffer.concat([bytes, Buffer.from(' ')]))
  rmSync(join(folder, 'tokenizer.json'))
  expect(() => verifyCheckpoint(folder)).toThrow(
    /config.json has \d+ bytes instead of \d+; model.safetensors has changed; tokenizer.json is missing/,
  )
})

test('a changed or malicious manifest is detected', () => {
  const folder = join(temporaryFolder(), 'x')
  const manifest = saveCheckpoint(folder, contents(1))
  const write = (value: unknown) => writeFileSync(join(folder, MANIFEST_FILE), JSON.stringify(value))
  write({ ...manifest, step: manifest.step + 1 })
  expect(() => openCheckpoint(folder)).toThrow(/its digest does not match/)
  write({ ...manifest, files: manifest.files.slice(1), digest: undefined })
  expect(() => verifyCheckpoint(folder)).toThrow(/the file list was changed/)
  write({ ...manifest, files: [{ ...manifest.files[0], path: '../../etc/passwd' }] })
  expect(() => openCheckpoint(folder)).toThrow(/coa-checkpoint.json is damaged: files.0.path/)
  write({ ...manifest, v: 2 })
  expect(() => openCheckpoint(folder)).toThrow(/is damaged: v/)
  expect(() => saveCheckpoint(folder, contents(2))).toThrow(/is damaged: v/)
})

/** A model folder as written by other software. */
function foreign(weights: StoredTensors, config: Record<string, unknown>): string {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config))
  writeTensors(join(folder, 'model.safetensors'), weights)
  return folder
}

test('model folders of other software are opened', () => {
  const weights = randomWeights(tinyLlama, 1)
  const config = configOf({ tie_word_embeddings: true, rms_norm_eps: 1e-5 })
  const folder = foreign(weights, config)
  const opened = openCheckpoint(folder)
  expect(opened).toMatchObject({
    shape: tinyLlama,
    manifest: undefined,
    files: ['config.json', 'model.safetensors'],
  })
  expect(opened.weights).toEqual(weights)
  expect(fingerprintOfFolder(folder)).toMatch(/^[0-9a-f]{64}$/)
  expect(readOptimizerState(folder)).toBeUndefined()
  expect(() => verifyCheckpoint(folder)).toThrow(/has no coa-checkpoint.json/)
  expect(() => readTokenizerFiles(folder)).toThrow(/no tokenizer.json/)
})

test('unsupported or missing models are rejected with their path', () => {
  const weights = randomWeights(tinyLlama, 1)
  expect(() => openCheckpoint(join(temporaryFolder(), 'x'))).toThrow(/no checkpoint at/)
  expect(() => openCheckpoint(temporaryFolder())).toThrow(/has no config.json/)
  expect(() => openCheckpoint(foreign(weights, configOf({ model_type: 'gpt2' })))).toThrow(
    /config.json: unsupported or invalid config.json: its model_type is gpt2/,
  )
  expect(() => openCheckpoint(foreign(weights, configOf()))).toThrow(/missing: lm_head.weight/)
  const broken = foreign(weights, configOf())
  writeFileSync(join(broken, 'config.json'), '{"model_type":')
  expect(() => openCheckpoint(broken)).toThrow(/config.json is damaged/)
})

test('optimizer state without a step is rejected', () => {
  const folder = temporaryFolder()
  writeTensors(join(folder, 'optimizer.safetensors'), new Map())
  expect(() => readOptimizerState(folder)).toThrow(/has no step/)
})
