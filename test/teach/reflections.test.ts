import { afterAll, beforeAll, expect, it } from 'vitest'
import { builtinGrammars, isWellFormed, parseChain } from '../../src/language/grammar/index.ts'
import { streamText } from '../../src/schema/index.ts'
import { distillTrajectory } from '../../src/stages/distill/index.ts'
import {
  carefulDials,
  erringDials,
  scriptedMinds,
  solveAsTeam,
  topologies,
} from '../../src/stages/teach/index.ts'
import { Place, suites, taskOf, teamOf } from './teams.ts'

let place: Place
beforeAll(async () => {
  place = await Place.open()
})
afterAll(() => place.close())

it.each([...topologies.keys()])(
  'runs of %s distill into single-agent sequences that follow the grammar',
  async (topology) => {
    let reflections = 0
    for (const dials of [carefulDials, erringDials]) {
      for (const suite of suites) {
        for (let index = 0; index < 4; index++) {
          const task = taskOf(suite, index)
          const grammar = builtinGrammars.get(task.domain)!
          const trajectory = await solveAsTeam(
            task,
            teamOf(topology, scriptedMinds(dials)),
            3,
            place.around(task),
          )
          // A debate may end without an answer, which leaves nothing to distill.
          if (trajectory.answer === undefined) continue
          const sequence = distillTrajectory(trajectory, { grammar })
          const chain = parseChain(grammar, streamText(sequence), { strict: true })
          expect(isWellFormed(chain), `${sequence.id}: ${JSON.stringify(sequence.meta['problems'])}`).toBe(
            true,
          )
          if (task.domain === 'web')
            reflections += chain.blocks.filter(({ agent }) => agent === 'reflection').length
        }
      }
    }
    // Two of the four topologies reflect where the grammar does not require it.
    if (topology === 'manager' || topology === 'pipeline') expect(reflections).toBeGreaterThan(0)
  },
)
