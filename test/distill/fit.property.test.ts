import fc from 'fast-check'
import { expect, it } from 'vitest'
import { builtinGrammars, defineGrammar } from '../../src/language/grammar/index.ts'
import { fitTrajectories } from '../../src/stages/distill/fit.ts'
import { distillTrajectory } from '../../src/stages/distill/index.ts'
import { howMany } from '../how-many.ts'
import { randomRun } from './random-run.ts'

const known = [...builtinGrammars.values()]
const isOrder = (problem: string): boolean => /^turn \d+: /.test(problem)

it('every trajectory that is said to fit distills without a problem of order', () => {
  fc.assert(
    fc.property(
      fc.array(randomRun, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(0, 0.5),
      fc.boolean(),
      (runs, minShare, thoughts) => {
        const trajectories = runs.map(({ trajectory }, index) => ({ ...trajectory, id: `run-${index}` }))
        const fit = fitTrajectories(trajectories, known, { thoughts }, minShare)
        const answered = trajectories.filter(({ events }) => events.some(({ type }) => type === 'answered'))
        if (minShare === 0) expect(fit?.fits ?? []).toEqual(answered.map(({ id }) => id))
        if (fit === undefined) return
        const grammar = defineGrammar(fit.definition)
        for (const trajectory of trajectories.filter(({ id }) => fit.fits.includes(id))) {
          const { meta } = distillTrajectory(trajectory, { grammar, thoughts })
          const problems = (meta['problems'] ?? []) as string[]
          expect(problems.filter(isOrder)).toEqual([])
        }
      },
    ),
    { numRuns: howMany(10_000) },
  )
}, 120_000)
