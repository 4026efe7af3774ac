import { expect, it } from 'vitest'
import { openEmbedded } from '../../../src/engine/index.ts'
import { isFull } from '../../how-many.ts'
import { learnNotes, noteShape, testCopying } from './learn-notes.ts'
import { judge, notes, noteTokenizer } from './notes.ts'

it("keeps the test's names and numbers out of the training data", () => {
  const words = (part: 'seen' | 'unseen'): Set<string> => {
    const next = notes('apart', part)
    return new Set(Array.from({ length: 500 }, () => next(2, 4).note.match(/\w{2,}/g)!).flat())
  }
  const seen = words('seen')
  expect([...words('unseen')].filter((word) => seen.has(word))).toEqual(['note'])
})

it('scores a copy line by line', () => {
  const note = '<note>Zela 221\nTome 48\n</note>'
  expect(judge(note, '<copy>Zela 221\nTome 48\n</copy>')).toEqual({ wellFormed: true, lines: 2, right: 2 })
  expect(judge(note, '<copy>Zela 221\nTome 84\n</copy>')).toEqual({ wellFormed: true, lines: 2, right: 1 })
  expect(judge(note, '<copy>Tome 48\nZela 221\n</copy>')).toMatchObject({ right: 0 })
  expect(judge(note, '<copy>Zela 221\n')).toMatchObject({ wellFormed: false })
})

it('learns from scratch to copy unseen names and numbers', async () => {
  const { steps, expected, ...learning } = LEARNING
  const tokenizer = await noteTokenizer()
  const engine = await openEmbedded({ model: { shape: noteShape(tokenizer.vocabularySize), seed: 1 } })
  const parameters = engine.describe().trainedParameters
  const before = await testCopying(engine, tokenizer, 50, learning.longest)
  const start = performance.now()
  const { losses, tokens } = await learnNotes(engine, tokenizer, { ...learning, steps })
  const seconds = (performance.now() - start) / 1000
  const after = await testCopying(engine, tokenizer, 200, learning.longest)
  await engine.close()
  const last = losses.slice(-30).reduce((sum, loss) => sum + loss, 0) / 30
  console.info(
    `${parameters} parameters, ${tokens} tokens in ${seconds.toFixed(0)} s: loss ${losses[0]!.toFixed(2)} to ` +
      `${last.toFixed(4)}; of ${after.texts} unseen notes ${after.exact} copied exactly, ${after.wellFormed} well-formed`,
  )
  expect(parameters).toBeGreaterThan(900_000)
  expect(parameters).toBeLessThan(1_100_000)
  expect(before).toMatchObject({ exact: 0, wellFormed: 0 })
  expect(last).toBeLessThan(expected.loss)
  expect(after.wellFormed).toBeGreaterThanOrEqual(expected.wellFormed)
  expect(after.exact).toBeGreaterThanOrEqual(expected.exact)
})

/** By default a sixth of the steps on short notes: the model knows the form by then, but does not copy reliably yet. */
const LEARNING = isFull
  ? {
      ...{ longest: 4, steps: 1500, rows: 12, learningRate: 1.5e-3 },
      expected: { loss: 0.02, wellFormed: 198, exact: 180 },
    }
  : {
      ...{ longest: 1, steps: 150, rows: 12, learningRate: 1.5e-3 },
      expected: { loss: 1.8, wellFormed: 150, exact: 0 },
    }
