import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dataFile, readJsonLines } from '../../../test/data/shared-data.ts'
import { howMany } from '../../../test/how-many.ts'
import { Random } from '../../base/random/index.ts'
import { EvalQuestions } from './eval-questions.ts'

const twelve = 'one two three four five six seven eight nine ten eleven twelve'.replace(/\w+/g, 'x$&')

function against(questions: string[], settings = {}): EvalQuestions {
  const set = new EvalQuestions({ overlap_words: 8, overlap_share: 0.5, paraphrases: true, ...settings })
  for (const question of questions) set.add('held-out', question)
  return set
}
const reason = (set: EvalQuestions, question: string) => set.contamination(question)?.reason

describe('contamination', () => {
  it('names the source and the overlap, without revealing the question', () => {
    const question = twelve.replace('xone', 'zero')
    expect(against([twelve], { overlap_share: 0.8 }).contamination(question)).toEqual({
      reason: 'question is in held-out',
      detail: '80% overlap',
    })
    expect(reason(against([twelve], { overlap_share: 0.81 }), question)).toBeUndefined()
  })

  it('changes its digest with every question, and with how it is compared', () => {
    const set = against(['something else'])
    const before = set.digest()
    expect(set.digest()).toBe(before)
    set.add('other', twelve)
    expect(set.digest()).not.toBe(before)
    const [whole, part] = [against([]), against([])]
    whole.add('other', twelve, { wholeOnly: true })
    part.add('other', twelve)
    expect(whole.digest()).not.toBe(part.digest())
  })
})

describe('paraphrases', () => {
  const ducks =
    "Janet's ducks lay 16 eggs per day. She eats three for breakfast and sells the rest at the market for $2 per egg. How much does she make?"

  it.each([
    ['other numbers', ducks.replace('16', '1,250').replace('$2', '$3.75')],
    ['number words', ducks.replace('16', 'forty-five').replace('three', '4')],
    [
      'another name and pronoun',
      ducks.replace('Janet', 'Mary Ann').replaceAll('she', 'he').replace('She', 'He'),
    ],
    ['a singular', ducks.replace('16 eggs', '1 egg')],
    ['instructions around it', `Solve this. ${ducks.replace('16', '22')} Put the answer in a box.`],
  ])('finds %s', (_, question) => {
    const strict = { overlap_share: 0.95 }
    expect(reason(against([ducks], strict), question)).toBe('question is a paraphrase of one in held-out')
    expect(reason(against([ducks], { ...strict, paraphrases: false }), question)).toBeUndefined()
  })

  it('does not take other facts for paraphrases: there, names and numbers are the question', () => {
    const award = 'Who won the award for the best novel of the year in 1998, given by the society of Norway?'
    expect(reason(against([award]), award.replace('1998', '2004').replace('Norway', 'Peru'))).toBeUndefined()
    expect(reason(against(['What is 3 + 4?']), 'What is 5 + 9?')).toBeUndefined()
  })

  it('compares only whole questions if asked to', () => {
    const set = against([])
    set.add('suite', ducks, { wholeOnly: true })
    expect(reason(set, ducks)).toBe('question is in suite')
    expect(reason(set, ducks.replace('16', '22'))).toBeUndefined()
  })

  const word = fc.stringMatching(/^[bcdfghjk][aeiou][lmnprtv][aeiou][bdgkz]$/)
  const name = fc.stringMatching(/^[A-Z][a-z]{3,7}$/)
  const number = fc.oneof(
    fc.integer({ min: 2, max: 9999 }).map(String),
    fc.constantFrom('seven', 'Twelve', 'thirty', '1/2', '2.50', '1,000'),
  )
  /** Words, with places for names and numbers. */
  const template = fc
    .array(fc.array(word, { minLength: 3, maxLength: 6 }), { minLength: 4, maxLength: 8 })
    .map(
      (parts) => (fill: (at: number) => string) =>
        parts.map((part, at) => `${part.join(' ')} ${fill(at)}`).join(' '),
    )
  const fillers = fc.array(fc.tuple(name, number), { minLength: 8, maxLength: 8 })
  const filled = ([said, values]: [(fill: (at: number) => string) => string, [string, string][]]): string =>
    said((at) => (at % 2 === 0 ? values[at]![1] : values[at]![0]))

  it('finds a question whose every name and number was replaced, and no other', () => {
    fc.assert(
      fc.property(template, template, fillers, fillers, (one, other, before, after) => {
        const set = against([filled([one, before])])
        expect(set.contamination(filled([one, after]))).toBeDefined()
        expect(set.contamination(filled([other, after]))).toBeUndefined()
      }),
      { numRuns: howMany(10_000) },
    )
  })
})

const math = ['math/train.jsonl.gz', 'math/dev.jsonl.gz'].map(dataFile)

describe.skipIf(math.includes(null))('GSM8K', () => {
  const [train = [], dev = []] = math.map((file) =>
    file === null ? [] : readJsonLines<{ question: string }>(file).map(({ question }) => question),
  )
  const lower = new Set([...train, ...dev].flatMap((question) => question.match(/\b[a-z]+\b/g) ?? []))
  const names = ['Zephyra', 'Mary Ann', 'Oluwaseun', 'Kaito', 'Ximena', 'Bob']
  const pronouns = new Map(Object.entries({ he: 'she', she: 'he', his: 'her', her: 'his', him: 'her' }))

  /** The same question with other numbers, names and pronouns. */
  function perturbed(question: string, seed: number): string {
    const random = new Random('perturbed', seed)
    const renamed = new Map<string, string>()
    return question
      .replace(/\d[\d,]*(?:\.\d+)?/g, () => String(random.int(2, random.pick([9, 99, 999]))))
      .replace(/\b(two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|hundred)\b/gi, () =>
        random.pick(['seventeen', '45', 'twenty five']),
      )
      .replace(/\b(he|she|his|her|him)\b/gi, (word) => pronouns.get(word.toLowerCase())!)
      .replace(/\b[A-Z][a-z]+\b/g, (word) => {
        if (lower.has(word.toLowerCase())) return word
        const known = renamed.get(word) ?? names[renamed.size % names.length]!
        renamed.set(word, known)
        return known
      })
  }

  it('at least 99% of the perturbed questions are found, at most 0.3% of other questions', () => {
    const set = against(dev)
    const caught = dev.filter((question, seed) => set.contamination(perturbed(question, seed)) !== undefined)
    expect(caught.length / dev.length).toBeGreaterThanOrEqual(0.99)
    const alarms = train.filter((question) => set.contamination(question) !== undefined)
    expect(alarms.length / train.length).toBeLessThanOrEqual(0.003)
  })
})
