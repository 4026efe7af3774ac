/**
 * Writes MiniMind's weights as a Hugging Face folder, for make_minimind.py and inspection with transformers:
 *
 *     COA_TEST_MINIMIND=1 npx node test/engine/reference/write-minimind.ts /tmp/minimind-hf
 *
 * It has its own safetensors writer, so that the reference does not depend on the engine.
 */
import { closeSync, copyFileSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { readMiniMind } from './minimind.ts'
import { minimindPackage } from './minimind-package.ts'

const out = process.argv[2]
const found = minimindPackage()
if (out === undefined || 'missing' in found)
  throw new Error('missing' in found ? found.missing : 'pass a folder to write to')
mkdirSync(out, { recursive: true })
for (const file of ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json'])
  copyFileSync(join(found.folder, file), join(out, file))

const { weights, sha256 } = readMiniMind(found.folder)
const header: Record<string, unknown> = { __metadata__: { format: 'pt', sha256 } }
let at = 0
for (const [name, { shape, values }] of weights) {
  header[name] = { dtype: 'F32', shape, data_offsets: [at, at + values.byteLength] }
  at += values.byteLength
}
const text = Buffer.from(JSON.stringify(header))
const padded = Buffer.concat([text, Buffer.alloc(-text.length & 7, ' ')])
const length = Buffer.alloc(8)
length.writeBigUInt64LE(BigInt(padded.length))
const file = openSync(join(out, 'model.safetensors'), 'w')
writeSync(file, length)
writeSync(file, padded)
for (const { values } of weights.values()) writeSync(file, new Uint8Array(values.buffer))
closeSync(file)
console.log(`${out}: ${weights.size} tensors, ${at / 4} parameters`)
