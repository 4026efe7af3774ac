import type { AgentSpec, Topology } from '../contract.ts'
import { critic, leading, verifier } from './roles.ts'
import {
  check,
  describeTeam,
  giveAnswer,
  needsCheck,
  type WorkState,
  withQuestion,
  workUntilSuggestion,
} from './shared.ts'

const manager: AgentSpec = {
  name: 'manager',
  instructions:
    'You lead a team that answers one question. Make a plan, give one order at a time to a member of the team, read its ' +
    'report, and decide what to do next. Never guess what a member can find out.',
  help: leading,
}

/** A manager plans and delegates, a critic reviews the work every few calls, and a verifier approves the answer. */
export const managerTopology: Topology = {
  name: 'manager',
  roles: [manager, critic, verifier],
  async work(run) {
    const lead = run.remember('manager')
    const facts = await run.ask(
      lead,
      withQuestion(
        run,
        `Your team:\n${describeTeam(run)}`,
        'Say what is known and what has to be found out.',
      ),
      { wants: ['facts'], cause: null },
    )
    const plan = await run.ask(lead, 'Make a plan.', { wants: ['plan'], cause: facts.event })
    const state: WorkState = {
      message: 'Continue.',
      cause: plan.event,
      notes: [`Facts: ${facts.text}`, `Plan: ${plan.text}`],
    }
    for (;;) {
      const suggested = await workUntilSuggestion(run, lead, state, 'critic')
      if (suggested === undefined) return undefined
      if (!needsCheck(run, state, suggested)) return giveAnswer(run, lead, suggested.text, suggested.event)
      const { isGood, text, event } = await check(run, 'verifier', state, suggested, 'manager')
      if (isGood) return giveAnswer(run, lead, suggested.text, event)
      state.cause = run.send('verifier', 'manager', text, event)
      state.message = `The verifier does not agree: ${text}`
      if (!run.settings.mayReplan || run.exhausted !== undefined) continue
      const again = await run.ask(lead, `${state.message}\n\nMake a new plan.`, {
        wants: ['plan'],
        cause: state.cause,
      })
      state.notes.push(`New plan: ${again.text}`)
      state.cause = again.event
      state.message = 'Continue.'
    }
  },
}
