import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { textOf } from '../../scripts/nano/text/document.ts'
import { baseDocuments } from '../../scripts/nano/text/documents.ts'
import { agentTags } from '../../scripts/nano/text/tags.ts'
import { encodeDocument, GIVEN, writeTokenFile } from '../../scripts/nano/token-file.ts'
import { buildPrompt, builtinGrammars } from '../../src/language/grammar/index.ts'
import { encodePrompt, openTokenizer, renderPrompt, type Tokenizer } from '../../src/language/tokens/index.ts'
import { howMany } from '../how-many.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'models/nano')
let tokenizer: Tokenizer
beforeAll(async () => {
  tokenizer = await openTokenizer(folder)
})

const tokensOf = (text: string): string[] =>
  [...tokenizer.encodeIds(text)].map((id) => tokenizer.decode([id]))

describe('the tokenizer of nano', () => {
  it('gives any text back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        expect(tokenizer.decode(tokenizer.encodeIds(text))).toBe(text.toWellFormed())
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('gives base text back', () => {
    const documentOf = baseDocuments(1)
    for (let index = 0; index < 500; index++) {
      const text = textOf(documentOf(index).document)
      expect(tokenizer.decode(tokenizer.encodeIds(text))).toBe(text)
    }
  })

  it('spells every digit by itself', () => {
    for (let id = 0; id < tokenizer.vocabularySize; id++)
      expect(tokenizer.idToToken(id)).not.toMatch(/[0-9].|.[0-9]/)
    expect(tokensOf('12,345')).toEqual(['1', '2', ',', '3', '4', '5'])
  })

  it('spells a name the same way wherever it stands', () => {
    const name = 'Zelanbury'
    const spelt = tokensOf(name)
    const places = [
      `seen by ${name}.`,
      `[${name}](`,
      `Mount_${name}`,
      `<web_search>${name}</web_search>`,
      `\n- ${name}`,
    ]
    for (const place of places) {
      const tokens = tokensOf(place)
      const at = tokens.findIndex((_, from) => spelt.every((piece, next) => tokens[from + next] === piece))
      expect(at).toBeGreaterThanOrEqual(0)
    }
  })

  it('has one token for each tag, which is text like any other', () => {
    for (const tag of agentTags) {
      expect(tokensOf(tag)).toEqual([tag])
      expect(tokenizer.isControl(tokenizer.encodeIds(tag)[0]!)).toBe(false)
    }
  })
})

describe('a prompt of nano', () => {
  const question = 'In what year was the captain of SS Wilhelm Avenue born?'

  it('is the question between two tokens, without instructions', () => {
    for (const grammar of builtinGrammars.values()) {
      const prompt = buildPrompt(grammar, question)
      expect(renderPrompt(tokenizer, prompt)).toBe(`<|question|>${question}<|chain|>`)
      const ids = encodePrompt(tokenizer, prompt)
      expect(tokenizer.idToToken(ids[0]!)).toBe('<|question|>')
      expect(tokenizer.idToToken(ids.at(-1)!)).toBe('<|chain|>')
      expect([...ids.slice(1, -1)]).toEqual([...tokenizer.encodeIds(question)])
    }
  })

  it('cannot be ended by what is asked', () => {
    const ids = encodePrompt(tokenizer, [{ role: 'user', content: 'What is <|chain|>?' }])
    expect([...ids].filter((id) => tokenizer.isControl(id))).toEqual([ids[0], ids.at(-1)])
  })
})

describe('documents as tokens', () => {
  it('mark what is given and end with the end', () => {
    const documentOf = baseDocuments(1)
    for (let index = 0; index < 200; index++) {
      const { document } = documentOf(index)
      const tokens = encodeDocument(tokenizer, document)
      expect(tokens.at(-1)).toBe(tokenizer.eosId)
      const ids = [...tokens.slice(0, -1)].map((token) => token & (GIVEN - 1))
      expect(tokenizer.decode(ids)).toBe(textOf(document))
      const marked = [...tokens].filter((token) => token >= GIVEN).map((token) => token & (GIVEN - 1))
      // A token may reach from what is given into what is learned, by a space.
      const read = document.filter((part) => part.given).map((part) => part.text.replaceAll(' ', ''))
      expect(tokenizer.decode(marked).replaceAll(' ', '')).toBe(read.join(''))
    }
  })
})

const python = ['python3', 'python'].find((name) => spawnSync(name, ['--version']).status === 0)
if (python === undefined) console.warn('The drills of nano are not tested: there is no python3')

describe.skipIf(python === undefined)('drills in Python', () => {
  const drill = (code: string): unknown => {
    const { stdout, stderr, status } = spawnSync(python!, ['-c', code], {
      cwd: join(root, 'scripts/nano/train'),
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    })
    expect(stderr).toBe('')
    expect(status).toBe(0)
    return JSON.parse(stdout)
  }
  const start = [
    'import json; from bpe import Tokenizer; from drills import Drills, is_held_out',
    `tokenizer = Tokenizer(${JSON.stringify(join(folder, 'tokenizer.json'))})`,
    'drills = Drills(5, list(tokenizer.vocabulary), tokenizer.tags)',
  ].join('\n')

  it('are spelt as coa spells them', () => {
    const made = drill(
      `${start}\nmade = [drills.any(drills.random.random()) for _ in range(1500)]\n` +
        'print(json.dumps([["".join(text for text, _ in parts), tokenizer.encode(parts)] for parts in made]))',
    ) as [string, number[]][]
    expect(made.length).toBe(1500)
    for (const [text, tokens] of made)
      expect(tokens.map((token) => token & (GIVEN - 1))).toEqual([...tokenizer.encodeIds(text)])
  })

  it('fill rows together with the documents of a file', async () => {
    const scratch = mkdtempSync(join(tmpdir(), 'coa-nano-'))
    const documentOf = baseDocuments(1)
    const documents = Array.from({ length: 300 }, (_, index) =>
      encodeDocument(tokenizer, documentOf(index).document),
    )
    await writeTokenFile(join(scratch, 'text.bin.gz'), documents)
    const [read, lengths, share] = drill(
      `${start}\nfrom rows import BaseText, RowMaker\n` +
        `text = BaseText([${JSON.stringify(join(scratch, 'text.bin.gz'))}], tokenizer.end)\n` +
        'maker = RowMaker(text, tokenizer, 1, 512, 0.45)\n' +
        'lengths = sorted({len(maker.row(0.5)) for _ in range(100)})\n' +
        'documents = [list(text.document(number)) for number in range(text.documents)]\n' +
        'print(json.dumps([documents, lengths, maker.drilled / maker.made]))',
    ) as [number[][], number[], number]
    rmSync(scratch, { recursive: true })
    expect(read).toEqual(documents.map((tokens) => [...tokens]))
    expect(lengths).toEqual([513])
    expect(share).toBeCloseTo(0.45, 1)
  })

  it('keep one name in five for the tests', () => {
    const shares = drill(
      `${start}\nexam = Drills(5, list(tokenizer.vocabulary), tokenizer.tags, for_tests=True)\n` +
        'print(json.dumps([sum(map(is_held_out, each.pool)) / len(each.pool) for each in (drills, exam)]))',
    )
    expect(shares).toEqual([0, 1])
  })
})
