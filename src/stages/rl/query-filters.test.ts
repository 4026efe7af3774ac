import fc from 'fast-check'
import { expect, it } from 'vitest'
import { outsideRange, QueryFunnel, solvedWithoutTools, trainedBefore } from './query-filters.ts'

const tries = (correct: number, wrong: number) => ({ correct, wrong })

it('drops tasks solved without tools in more than a share of the attempts', () => {
  expect(solvedWithoutTools(tries(3, 7), 0.3)).toBeUndefined()
  expect(solvedWithoutTools(tries(0, 32), 0)).toBeUndefined()
  expect(solvedWithoutTools(undefined, 0)).toBeUndefined()
  expect(solvedWithoutTools(tries(4, 6), 0.3)).toEqual({
    reason: 'solved without tools in more than 30.0%',
    detail: '4 of 10 attempts',
  })
})

it('keeps tasks whose pass rate is in the range, bounds included', () => {
  const reasons = ([low, high]: [number, number]) =>
    [tries(0, 8), tries(1, 7), tries(4, 4), tries(7, 1), tries(8, 0), undefined].map(
      (each) => outsideRange(each, [low, high])?.reason,
    )
  expect(reasons([0.125, 0.875])).toEqual([
    'never solved',
    undefined,
    undefined,
    undefined,
    'always solved',
    'no attempt could be judged',
  ])
  expect(reasons([0.2, 0.8])).toEqual([
    'never solved',
    'solved in less than 20.0%',
    undefined,
    'solved in more than 80.0%',
    'always solved',
    'no attempt could be judged',
  ])
  // The paper's filter for code: only tasks that are always solved are dropped.
  expect(reasons([0, 0.99]).slice(0, 5)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    'always solved',
  ])
})

it('never uses a question on both sides', () => {
  const question = fc.constantFrom('Who?', 'who', 'When was it?', 'WHEN was it', 'Why 3+4', 'Why 3-4')
  fc.assert(
    fc.property(fc.array(question), fc.array(question), (sft, rl) => {
      const isKnown = trainedBefore(sft)
      const plain = (text: string): string => text.toLowerCase().replace('?', '')
      const trained = new Set(sft.map(plain))
      for (const each of rl) expect(isKnown(each) !== undefined).toBe(trained.has(plain(each)))
    }),
    { numRuns: 10_000 },
  )
})

it('counts what each filter keeps, and why the rest is dropped', () => {
  const funnel = new QueryFunnel(Array.from({ length: 9 }, (_, at) => ({ id: `${at}` })))
  funnel.pass('disjoint', () => undefined)
  funnel.pass('without tools', ({ id }) => (Number(id) < 5 ? { reason: 'known', detail: id } : undefined))
  const seen: string[] = []
  funnel.pass('pass rate', ({ id }) => {
    seen.push(id)
    return Number(id) > 6 ? { reason: 'always solved', detail: '' } : undefined
  })
  expect(seen).toEqual(['5', '6', '7', '8'])
  expect(funnel.kept).toEqual([{ id: '5' }, { id: '6' }])
  expect(funnel.counts()).toMatchObject({
    tasks: 9,
    kept: 2,
    stages: [
      { name: 'disjoint', before: 9, after: 9 },
      { name: 'without tools', before: 9, after: 4 },
      { name: 'pass rate', before: 4, after: 2 },
    ],
    reasons: [
      {
        stage: 'without tools',
        reason: 'known',
        count: 5,
        examples: [{ id: '0' }, { id: '1' }, { id: '2' }],
      },
      { stage: 'pass rate', reason: 'always solved', count: 2 },
    ],
  })
})
