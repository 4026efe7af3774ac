/**
 * Generates the training data of models/nano: its tokenizer, and a file of tokenized base text.
 *
 *   node scripts/nano/make-text.ts OUT [--tokens 30000000] [--worlds 10] [--part 1/1] [--vocabulary 2048] [--keep-tokenizer]
 *
 * The same arguments give the same files. The tokenizer goes to models/nano, the text to OUT/text.bin.gz. With --part 3/16 it
 * is every 16th document starting with the third, in OUT/text-3.bin.gz: 16 processes generate 16 parts of --tokens each.
 */
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openTokenizer } from '../../src/language/tokens/index.ts'
import { saveTokenizer } from '../../src/language/tokens/train/index.ts'
import { baseDocuments } from './text/documents.ts'
import { encodeDocument, GIVEN, writeTokenFile } from './token-file.ts'
import { makeTokenizer } from './tokenizer.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tokens: { type: 'string', default: '30000000' },
    worlds: { type: 'string', default: '10' },
    part: { type: 'string', default: '1/1' },
    vocabulary: { type: 'string', default: '2048' },
    'keep-tokenizer': { type: 'boolean', default: false },
  },
})
const out = positionals[0]
if (out === undefined) {
  console.error('Specify the output folder: node scripts/nano/make-text.ts OUT')
  process.exit(2)
}
mkdirSync(out, { recursive: true })
const worlds = Number(values.worlds)
const [part = 1, parts = 1] = values.part.split('/').map(Number)
const model = join(dirname(fileURLToPath(import.meta.url)), '../../models/nano')

if (!values['keep-tokenizer']) {
  const made = await makeTokenizer({
    vocabularySize: Number(values.vocabulary),
    documents: 12_000,
    worlds: 3,
  })
  await saveTokenizer(model, made)
  console.log(`tokenizer: ${made.summary.vocabularySize} tokens from ${made.summary.characters} characters`)
}
const tokenizer = await openTokenizer(model)
const counts = new Map<string, { documents: number; tokens: number; learned: number }>()
const started = performance.now()
let total = 0

function* documents(): Generator<Uint16Array> {
  const documentOf = baseDocuments(worlds)
  for (let index = part - 1; total < Number(values.tokens); index += parts) {
    const { kind, document } = documentOf(index)
    const tokens = encodeDocument(tokenizer, document)
    const count = counts.get(kind) ?? { documents: 0, tokens: 0, learned: 0 }
    count.documents++
    count.tokens += tokens.length
    for (const token of tokens) if (token < GIVEN) count.learned++
    counts.set(kind, count)
    total += tokens.length
    yield tokens
  }
}

const file = parts === 1 ? 'text.bin.gz' : `text-${part}.bin.gz`
await writeTokenFile(join(out, file), documents())
const seconds = (performance.now() - started) / 1000
console.table(Object.fromEntries(counts))
console.log(`${total} tokens in ${seconds.toFixed(0)} s: ${Math.round(total / seconds)} per second`)
