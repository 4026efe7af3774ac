import type { AgentSpec, Topology } from '../contract.ts'
import { critic, leading, planner, verifier } from './roles.ts'
import {
  check,
  describeTeam,
  giveAnswer,
  needsCheck,
  reflect,
  type WorkState,
  withQuestion,
  workUntilSuggestion,
} from './shared.ts'

const actor: AgentSpec = {
  name: 'actor',
  instructions:
    'You carry out a plan: give one order at a time to a member of your team, and put the findings together.',
  help: leading,
}

/** Plan → act → critique → verify, each by a different agent. A rejected answer goes back to the actor. */
export const pipelineTopology: Topology = {
  name: 'pipeline',
  roles: [planner, actor, critic, verifier],
  async work(run) {
    const plan = await run.ask(run.remember('planner'), withQuestion(run), {
      wants: ['plan'],
      cause: null,
    })
    const lead = run.remember('actor')
    const state: WorkState = {
      message: withQuestion(run, `Your team:\n${describeTeam(run)}`, `The plan: ${plan.text}`),
      cause: run.send('planner', 'actor', plan.text, plan.event),
      notes: [`Plan: ${plan.text}`],
    }
    // If the grammar requires a reflection after every call, the critic writes each one; otherwise only one, before the check.
    const reflectsOnCalls = run.settings.reflectEvery === 1
    for (;;) {
      const suggested = await workUntilSuggestion(run, lead, state, reflectsOnCalls ? 'critic' : undefined)
      if (suggested === undefined) return undefined
      if (!needsCheck(run, state, suggested)) return giveAnswer(run, lead, suggested.text, suggested.event)
      state.message = ''
      if (!reflectsOnCalls) await reflect(run, 'critic', state)
      const { isGood, text, event } = await check(run, 'verifier', state, suggested, 'actor')
      if (isGood) return giveAnswer(run, lead, suggested.text, event)
      state.cause = run.send('verifier', 'actor', text, event)
      state.message = `The verifier does not agree: ${text}`
    }
  },
}
