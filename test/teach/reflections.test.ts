import { afterAll, beforeAll, expect, it } from 'vitest'
import { builtinGrammars, isWellFormed, parseChain } from '../../src/language/grammar/index.ts'
import { agentNames } from '../../src/language/voice/index.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { streamText } from '../../src/schema/index.ts'
import { distillTrajectory } from '../../src/stages/distill/index.ts'
import { unreflected } from '../../src/stages/filter/decide.ts'
import { examine } from '../../src/stages/filter/examine.ts'
import { filterSettings } from '../../src/stages/filter/settings.ts'
import { speaksToTeam } from '../../src/stages/filter/voice.ts'
import {
  carefulDials,
  erringDials,
  scriptedMinds,
  solveAsTeam,
  topologies,
} from '../../src/stages/teach/index.ts'
import { Place, suites, taskOf, teamOf } from './teams.ts'

const settings = filterSettings(ProjectConfig.parse({}))

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
          // Text that is written for one agent is left as it is, except for the one remark that names a teammate.
          expect(Object.keys(sequence.meta['voice'] ?? {}).filter((rule) => rule !== 'disagrees')).toEqual([])
          const examined = examine(sequence, grammar)
          expect(speaksToTeam(examined, agentNames(trajectory.events)), sequence.id).toBeUndefined()
          expect(unreflected(examined, settings)?.reason).not.toBe('no reflection where it is required')
          if (task.domain === 'web')
            reflections += chain.blocks.filter(({ agent }) => agent === 'reflection').length
        }
      }
    }
    // Two of the four topologies reflect where the grammar does not require it.
    if (topology === 'manager' || topology === 'pipeline') expect(reflections).toBeGreaterThan(0)
  },
)
