/**
 * Writes k-quants.fixture.json: values, and the blocks that llama.cpp's quantizer makes of them.
 *
 *   node test/engine/gguf/make-k-quants-fixture.ts LLAMA_QUANTIZE
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readGguf, readGgufTensor } from '../../../src/engine/gguf/index.ts'
import { byteTokenizerWithTags, exportGguf, newModel, shapeOfSizes } from '../../../src/engine/index.ts'

const blocks = 8
const folder = mkdtempSync(join(tmpdir(), 'coa-fixture-'))
const [plain, reference] = ['plain.gguf', 'reference.gguf'].map((name) => join(folder, name)) as [
  string,
  string,
]
const shape = shapeOfSizes({ width: 256, layers: 2, feedForwardWidth: 256, contextLength: 64 })
await newModel(join(folder, 'model'), {
  shape,
  tokenizer: byteTokenizerWithTags([]),
  seed: 11,
  createdAt: '2026-01-01T00:00:00Z',
})
exportGguf(join(folder, 'model'), plain, { type: 'F32' })
execFileSync(process.argv[2]!, [plain, reference, 'Q4_K_M', '1'], { stdio: 'ignore' })
const [before, after] = [readGguf(plain), readGguf(reference)]
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
const types = (
  [
    ['Q4_K', 'blk.0.attn_q.weight', 144],
    ['Q6_K', 'token_embd.weight', 210],
  ] as const
).map(([type, name, bytesInBlock]) => {
  const values = readGgufTensor(plain, before.tensors.get(name)!).slice(0, 256 * blocks)
  const tensor = after.tensors.get(name)!
  if (tensor.type !== type) throw new Error(`${name} is ${tensor.type}`)
  const bytes = readFileSync(reference).subarray(tensor.start, tensor.start + bytesInBlock * blocks)
  return { type, values: base64(new Uint8Array(values.buffer)), bytes: base64(bytes) }
})
writeFileSync(new URL('k-quants.fixture.json', import.meta.url), `${JSON.stringify({ types }, null, 1)}\n`)
rmSync(folder, { recursive: true })
