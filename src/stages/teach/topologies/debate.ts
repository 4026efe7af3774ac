import type { AgentSpec, Topology } from '../contract.ts'
import { leading, planner } from './roles.ts'
import {
  check,
  describeTeam,
  giveAnswer,
  type WorkState,
  withQuestion,
  workUntilSuggestion,
} from './shared.ts'

const solver = (crew: string): AgentSpec => ({
  name: `solver_${crew}`,
  crew,
  instructions:
    `You are solver_${crew}. You and another solver work on the same question independently. Give one order at a time to a ` +
    'member of your crew, and suggest an answer when the findings support it.',
  help: leading,
})
const judge: AgentSpec = {
  name: 'judge',
  instructions:
    'Two solvers worked on a question independently. Check their suggestions against the findings of both. ' +
    'Score 1 or 2 to reject an answer, 3 or 4 to accept it.',
}
const crews = ['a', 'b'] as const

/** Two solvers work in parallel on the same plan; a judge who sees both picks the answer. */
export const debateTopology: Topology = {
  name: 'debate',
  roles: [planner, ...crews.map(solver), judge],
  crews,
  async work(run) {
    const plan = await run.ask(run.remember('planner'), withQuestion(run), {
      wants: ['plan'],
      cause: null,
    })
    const sides = await Promise.all(
      crews.map(async (crew) => {
        const name = `solver_${crew}`
        const lead = run.remember(name)
        const state: WorkState = {
          message: withQuestion(run, `Your crew:\n${describeTeam(run, crew)}`, `The plan: ${plan.text}`),
          cause: run.send('planner', name, plan.text, plan.event),
          notes: [],
        }
        const needsReflection = run.settings.reflectEvery === 1
        const suggested = await workUntilSuggestion(run, lead, state, needsReflection ? name : undefined)
        return { name, lead, state, suggested }
      }),
    )
    const shared: WorkState = { message: '', cause: '', notes: sides.flatMap(({ state }) => state.notes) }
    for (const { name, lead, suggested } of sides) {
      if (suggested === undefined) continue
      const { isGood, event } = await check(run, 'judge', shared, suggested, name)
      if (isGood) return giveAnswer(run, lead, suggested.text, event)
    }
    return undefined
  },
}
