import { beforeAll, describe, expect, it } from 'vitest'
import { baseSeed, FIRST_BASE_SEED } from '../../scripts/nano/seeds.ts'
import { type BaseDocument, textOf } from '../../scripts/nano/text/document.ts'
import { baseDocuments, type Kind } from '../../scripts/nano/text/documents.ts'
import { sampleStory } from '../../scripts/nano/text/stories.ts'
import { agentTags } from '../../scripts/nano/text/tags.ts'
import { Random } from '../../src/base/random/index.ts'
import { libraryOf, suites } from '../../src/tasks/index.ts'
import { mathSuite } from '../../src/tasks/suites/math/index.ts'
import { pageText } from '../../src/tasks/suites/search/encyclopedia/pages.ts'

interface Step {
  name: string
  expression: string
}

const DOCUMENTS = 3000
let documents: { kind: Kind; document: BaseDocument; text: string }[]

beforeAll(() => {
  const documentOf = baseDocuments(2)
  documents = Array.from({ length: DOCUMENTS }, (_, index) => {
    const { kind, document } = documentOf(index)
    return { kind, document, text: textOf(document) }
  })
})

describe('base text', () => {
  it('is the same for the same numbers', () => {
    const documentOf = baseDocuments(2)
    for (let index = 0; index < DOCUMENTS; index += 37)
      expect(documentOf(index).document).toEqual(documents[index]!.document)
  })

  it('has every kind of document, and something to learn in each', () => {
    const kinds = new Set(documents.map(({ kind }) => kind))
    expect([...kinds].sort()).toEqual(
      ['apart', 'look-up', 'page', 'path', 'printed', 'program', 'results', 'steps', 'story', 'tags'].sort(),
    )
    for (const { document } of documents) expect(document.some((part) => !part.given)).toBe(true)
  })

  it('refuses seeds that are evaluated with', () => {
    expect(baseSeed(0)).toBe(FIRST_BASE_SEED)
    expect(() => baseSeed(-1)).toThrow('is not a base text seed')
    expect(() => baseSeed(-FIRST_BASE_SEED + 1)).toThrow('is not a base text seed')
    expect(() => baseSeed(0.5)).toThrow('is not a base text seed')
  })

  it('has no question of the splits that are measured with', () => {
    const text = documents.map((each) => each.text).join('\n')
    for (const suite of ['math', 'search', 'code'])
      for (const split of ['dev', 'test'] as const)
        for (const seed of [1, 2])
          for (let index = 0; index < 20; index++) {
            const { question } = suites.get(suite)!.generate({ seed, split, index, level: 2 + (index % 2) })
            expect(text.includes(question)).toBe(false)
          }
  })

  it('has no story that is put together like one of the splits that are measured with', () => {
    const templateOf = (steps: readonly Step[]): string => {
      const places = new Map(steps.map(({ name }, at) => [name, `step${at}`]))
      return steps
        .map(({ expression }) =>
          expression
            .replaceAll('//', '/')
            .replaceAll('Decimal', '')
            .replace(/[a-z]\w*/g, (name) => {
              if (!places.has(name)) places.set(name, `given${places.size}`)
              return places.get(name)!
            })
            .replaceAll(/\((\w+)\)/g, '$1'),
        )
        .join('; ')
    }
    const measured = new Set<string>()
    for (const split of ['dev', 'test'] as const)
      for (let index = 0; index < 150; index++) {
        const { program } = mathSuite.generate({ seed: 1, split, index, level: 1 }).meta
        measured.add(templateOf(program.steps))
      }
    const random = new Random('stories')
    let read = 0
    for (let index = 0; index < 400; index++) {
      const { program } = sampleStory(0, index, random)
      if (program.steps.length !== 2) continue
      read++
      expect(measured.has(templateOf(program.steps)), program.python).toBe(false)
    }
    expect(read).toBeGreaterThan(100)
    expect(measured.size).toBeGreaterThan(10)
  })

  it('has no page of the encyclopedias that are asked about', () => {
    const told = new Set(libraryOf(1).pages.map(pageText))
    const read = documents.filter(({ kind }) => kind === 'page').map(({ text }) => text)
    expect(read.length).toBeGreaterThan(200)
    for (const text of read) {
      const [, ...lines] = text.split('\n\nQuestion: ')[0]!.split('\n')
      expect(told.has(lines.join('\n'))).toBe(false)
    }
  })

  it('has tags only in lists of tags, with nothing inside them', () => {
    const isTag = new RegExp(agentTags.join('|').replaceAll('/', '\\/'), 'g')
    for (const { kind, text } of documents) {
      if (kind !== 'tags') expect(text.match(isTag)).toBeNull()
      else expect(text.replace(isTag, '').replaceAll(' ', '')).toBe('List:\nOncemore:')
    }
  })

  it('works steps out in plain text, and has no agent that thinks, checks or answers', () => {
    for (const { text } of documents)
      expect(text).not.toMatch(
        /Score: \d|This looks right|The plan works|The value is right|That settles it|\\boxed|<\w+>\w/,
      )
  })
})
