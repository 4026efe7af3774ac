import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { howMany } from '../../../../test/how-many.ts'
import { Task } from '../../../schema/index.ts'
import { mathSuite } from './index.ts'
import { settings } from './words/settings.ts'

const goldOf = ({ gold }: Task): string => (gold.checker === 'math' ? gold.answer : '')

const requests = fc.record({
  seed: fc.integer({ min: 0, max: 1_000_000 }),
  split: fc.constantFrom('train' as const, 'dev' as const, 'test' as const),
  index: fc.nat(1_000_000),
  level: fc.integer({ min: 1, max: 6 }),
})

/** Python integers and decimals as fractions: an independent evaluator of the expressions' text. */
type Fraction = readonly [top: bigint, bottom: bigint]

function fractionOf(text: string): Fraction {
  const [units = '', decimals = ''] = text.split('.')
  return [BigInt(units + decimals), 10n ** BigInt(decimals.length)]
}

const floored = (top: bigint, bottom: bigint): bigint =>
  top / bottom - (top % bottom !== 0n && top < 0n !== bottom < 0n ? 1n : 0n)

/** Sums, products and parentheses by recursive descent. */
function evaluate(expression: string, names: ReadonlyMap<string, Fraction>): Fraction {
  const tokens = expression.match(/\d+(?:\.\d+)?|[A-Za-z_]\w*|\/\/|[-+*/%()]/g) ?? []
  let at = 0
  const sum = (): Fraction => {
    let [top, bottom] = product()
    while (tokens[at] === '+' || tokens[at] === '-') {
      const sign = tokens[at++] === '+' ? 1n : -1n
      const [otherTop, otherBottom] = product()
      ;[top, bottom] = [top * otherBottom + sign * otherTop * bottom, bottom * otherBottom]
    }
    return [top, bottom]
  }
  const product = (): Fraction => {
    let [top, bottom] = factor()
    while (['*', '/', '//', '%'].includes(tokens[at] ?? '')) {
      const operator = tokens[at++]
      const [otherTop, otherBottom] = factor()
      const [over, under] = [top * otherBottom, bottom * otherTop]
      if (operator === '*') [top, bottom] = [top * otherTop, bottom * otherBottom]
      else if (operator === '/') [top, bottom] = [over, under]
      else if (operator === '//') [top, bottom] = [floored(over, under), 1n]
      else
        [top, bottom] = [top * otherBottom - floored(over, under) * otherTop * bottom, bottom * otherBottom]
    }
    return [top, bottom]
  }
  const factor = (): Fraction => {
    const token = tokens[at++]!
    if (token === '-') {
      const [top, bottom] = factor()
      return [-top, bottom]
    }
    if (token === 'Decimal') return factor()
    if (token === '(') {
      const inner = sum()
      expect(tokens[at++]).toBe(')')
      return inner
    }
    return names.get(token) ?? fractionOf(token)
  }
  const value = sum()
  expect(at).toBe(tokens.length)
  return value
}

const same = ([top, bottom]: Fraction, [otherTop, otherBottom]: Fraction): boolean =>
  top * otherBottom === otherTop * bottom

const withoutSeparators = (text: string): string => text.replace(/(?<=\d),(?=\d{3})/g, '')

describe('math tasks', () => {
  test('match the schema, are reproducible, and contain their steps', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const task = mathSuite.generate(request)
        expect(Task.parse(task)).toEqual(task)
        expect(mathSuite.generate(request)).toEqual(task)
        expect(mathSuite.program.parse(task.meta.program)).toEqual(task.meta.program)
        expect(task.id).toBe(`math-${request.split}-${request.seed}-${request.index}`)
        expect(task.meta.program.steps).toHaveLength(request.level + 1)
      }),
      { numRuns: howMany(2_000) },
    )
  })

  test('agree with an independent evaluator on every value and the gold answer', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const task = mathSuite.generate(request)
        const { givens, steps } = task.meta.program
        const names = new Map(givens.map(({ name, value }) => [name, fractionOf(value)]))
        expect(names.size).toBe(givens.length)
        for (const { name, expression, value } of steps) {
          const result = evaluate(expression, names)
          if (!same(result, fractionOf(value))) throw new Error(`${expression} is not ${value}`)
          expect(names.has(name)).toBe(false)
          names.set(name, result)
        }
        expect(same(names.get(steps.at(-1)!.name)!, fractionOf(goldOf(task)))).toBe(true)
      }),
      { numRuns: howMany(10_000) },
    )
  })

  test('have all givens but not the answer in the question, and need every step', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const task = mathSuite.generate(request)
        const { givens, steps, distractors } = task.meta.program
        for (const { text } of givens) expect(task.question).toContain(text)
        for (const { text } of distractors) expect(task.question).toContain(text)
        const numbers = withoutSeparators(task.question).match(/\d+(?:\.\d+)?/g) ?? []
        expect(numbers.map(Number)).not.toContain(Number(goldOf(task)))
        const used = new Set(steps.flatMap(({ inputs }) => inputs))
        for (const { name } of [...givens, ...steps.slice(0, -1)]) expect(used).toContain(name)
        expect(task.question).toMatch(/^[A-Z][^?]*\?$/)
        expect(task.question).not.toMatch(/undefined|NaN| {2}|\$\$|\b1 (?:minutes|parts|litres)\b/)
      }),
      { numRuns: howMany(10_000) },
    )
  })

  test('have plausible wrong answers', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const task = mathSuite.generate(request)
        const right = goldOf(task)
        for (const { answer } of task.meta.program.slips) {
          expect(answer).toMatch(/^\d+(?:\.\d+)?$/)
          expect(Number(answer)).not.toBe(Number(right))
          if (!right.includes('.')) expect(answer).not.toContain('.')
        }
        expect(task.meta.program.slips.length).toBeGreaterThan(0)
      }),
      { numRuns: howMany(2_000) },
    )
  })

  test('have no template in two splits', () => {
    const splitOf = new Map<string, string>()
    for (const split of ['train', 'dev', 'test'] as const) {
      for (let index = 0; index < 600; index++) {
        const task = mathSuite.generate({ seed: index % 3, split, index, level: 1 + (index % 3) })
        const { steps } = task.meta.program
        const places = new Map<string, string>()
        const key = steps
          .map(({ expression, name }, at) => {
            const shape = expression
              .replaceAll('//', '/')
              .replaceAll('Decimal', '')
              .replace(/[a-z]\w*/g, (word) => {
                if (!places.has(word)) places.set(word, `given${places.size}`)
                return places.get(word)!
              })
            places.set(name, `step${at}`)
            return shape.replaceAll(/\((\w+)\)/g, '$1')
          })
          .join('; ')
        expect([undefined, split]).toContain(splitOf.get(key))
        splitOf.set(key, split)
      }
    }
    const counts = [...splitOf.values()]
    for (const split of ['train', 'dev', 'test'])
      expect(counts.filter((each) => each === split).length).toBeGreaterThan(5)
  })

  test('alternate levels, and cover all operations and settings', () => {
    const tasks = Array.from({ length: 3_000 }, (_, index) =>
      mathSuite.generate({ seed: 5, split: 'dev', index }),
    )
    expect(tasks.slice(0, 7).map(({ level }) => level)).toEqual([1, 2, 3, 4, 5, 6, 1])
    const operations = new Set(
      tasks.flatMap((task) => task.meta.program.steps.map(({ operation }) => operation)),
    )
    expect([...operations].sort()).toEqual([
      ...['add', 'average', 'divide', 'divide-down', 'divide-up', 'fraction', 'multiply', 'percent'],
      ...['percent-less', 'percent-more', 'remainder', 'share', 'subtract'],
    ])
    const scenes = settings.filter(({ scenes: openings }) =>
      tasks.some(({ question }) => openings.some((opening) => question.startsWith(opening))),
    )
    expect(scenes).toHaveLength(settings.length)
    expect(settings.length).toBeGreaterThanOrEqual(12)
  })
})
