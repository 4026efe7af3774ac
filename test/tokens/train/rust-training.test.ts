import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tokenizerFromJson } from '../../../src/language/tokens/index.ts'
import { type TrainTokenizerOptions, trainTokenizer } from '../../../src/language/tokens/train/index.ts'
import { pythonWithPackages } from '../../export/python-packages.ts'
import { nastyText } from '../nasty-text.ts'

interface Case {
  name: string
  texts: string[]
  options: Required<
    Pick<TrainTokenizerOptions, 'vocabularySize' | 'minimumFrequency' | 'controlTokens' | 'tags'>
  >
}
interface Result {
  added: unknown[]
  vocabulary: Record<string, number>
  merges: Array<[string, string]>
  rows: Array<{ text: string; recognize: number[]; literal: number[]; decoded: string }>
}
interface Json {
  added_tokens: unknown[]
  model: { vocab: Record<string, number>; merges: Array<[string, string]> }
}

const script = fileURLToPath(new URL('make-training.py', import.meta.url))
const fixture = JSON.parse(readFileSync(new URL('training.fixture.json', import.meta.url), 'utf8')) as Array<
  Case & { result: Result }
>
const found = pythonWithPackages()
if ('missing' in found) {
  console.warn(`SKIPPED: training is compared with recorded results only: ${found.missing}`)
}

async function train({ texts, options }: Case) {
  return await trainTokenizer(texts, { ...options })
}

async function compare(one: Case, result: Result): Promise<void> {
  const { json, config } = await train(one)
  const { added_tokens, model } = json as unknown as Json
  expect(model.merges).toEqual(result.merges)
  expect(model.vocab).toEqual(result.vocabulary)
  expect(added_tokens).toEqual(result.added)
  const tokenizer = tokenizerFromJson(json, config)
  for (const { text, recognize, literal, decoded } of result.rows) {
    expect(Array.from(tokenizer.encodeIds(text, { specials: 'recognize' })), text).toEqual(recognize)
    expect(Array.from(tokenizer.encodeIds(text)), text).toEqual(literal)
    expect(tokenizer.decode(recognize)).toBe(decoded)
    expect(decoded).toBe(text)
  }
}

function askRust(cases: object[]): Result[] {
  const { python } = found as { python: string }
  const answer = spawnSync(python, [script, 'live'], {
    input: JSON.stringify(cases),
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  expect(answer.status, answer.stderr).toBe(0)
  return JSON.parse(answer.stdout) as Result[]
}

describe('training matches the Rust library', () => {
  it.each(fixture)('$name', async (one) => {
    await compare(one, one.result)
  })
})

describe.skipIf('missing' in found)('with the Rust library installed', () => {
  it('matches the recorded results', () => {
    expect(askRust(fixture)).toEqual(fixture.map(({ result }) => result))
  })

  it('loads our files and produces the same tokens', async () => {
    const ours = await Promise.all(
      fixture.map(async (one) => ({ ...one, tokenizer: (await train(one)).json })),
    )
    const opened = askRust(ours)
    opened.forEach(({ rows, merges }, index) => {
      expect(rows).toEqual(fixture[index]!.result.rows)
      expect(merges).toEqual(fixture[index]!.result.merges)
    })
  })

  it('learns the same merges from all kinds of texts', async () => {
    const texts = fc.sample(
      fc.array(
        nastyText.map((text) => text.toWellFormed()),
        { minLength: 20, maxLength: 60 },
      ),
      {
        numRuns: 150,
        seed: 5,
      },
    )
    const cases = texts.map((list, index): Case & { probes: string[] } => ({
      name: String(index),
      texts: list,
      options: {
        vocabularySize: 300 + index,
        minimumFrequency: 1 + (index % 3),
        controlTokens: ['<|endoftext|>', '<|im_end|>'],
        tags: index % 2 === 0 ? [] : ['<think>', '</think>\n', '<answer>'],
      },
      probes: list.slice(0, 10),
    }))
    const results = askRust(cases)
    for (const [index, one] of cases.entries()) await compare(one, results[index]!)
  })
})
