import type { AgentSpec, Topology } from '../contract.ts'
import { critic, leading, planner, verifier } from './roles.ts'
import {
  check,
  describeTeam,
  giveAnswer,
  needsCheck,
  type WorkState,
  withQuestion,
  workUntilSuggestion,
} from './shared.ts'

const generator: AgentSpec = {
  name: 'generator',
  instructions: 'You work toward a first answer. Give one order at a time to a member of your team.',
  help: leading,
}
const refiner: AgentSpec = {
  name: 'refiner',
  instructions:
    'You are given work that a verifier rejected. Find out what is missing, give one order at a time to a member of ' +
    'your team, and suggest a better answer.',
  help: leading,
}

/** One agent generates an answer, another verifies it, and a third refines it until it is accepted. */
export const refineTopology: Topology = {
  name: 'refine',
  roles: [planner, generator, refiner, critic, verifier],
  async work(run) {
    const plan = await run.ask(run.remember('planner'), withQuestion(run), {
      wants: ['plan'],
      cause: null,
    })
    const team = describeTeam(run)
    const state: WorkState = { message: '', cause: plan.event, notes: [`Plan: ${plan.text}`] }
    const reviewer = run.settings.reflectEvery === 1 ? 'critic' : undefined
    let who = 'generator'
    let rejection = ''
    for (;;) {
      const lead = run.remember(who)
      state.message = withQuestion(run, `Your team:\n${team}`, `${state.notes.join('\n')}${rejection}`)
      const suggested = await workUntilSuggestion(run, lead, state, reviewer)
      if (suggested === undefined) return undefined
      if (!needsCheck(run, state, suggested)) return giveAnswer(run, lead, suggested.text, suggested.event)
      const { isGood, text, event } = await check(run, 'verifier', state, suggested, who)
      if (isGood) return giveAnswer(run, lead, suggested.text, event)
      state.cause = run.send('verifier', 'refiner', text, event)
      rejection = `\n\nThe verifier does not agree: ${text}`
      who = 'refiner'
    }
  },
}
