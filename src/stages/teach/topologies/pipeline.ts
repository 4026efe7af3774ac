import type { AgentSpec, Topology } from '../contract.ts'
import { critic, planner, verifier } from './roles.ts'
import { type Course, check, describeTeam, giveAnswer, lookBack, workUntilSuggestion } from './shared.ts'

const actor: AgentSpec = {
  name: 'actor',
  instructions:
    'You carry out a plan, one order to a member of your team at a time, and put the findings together.',
}

/** Plan → act → critique → verify, each by another agent. What fails goes back to the actor. */
export const pipelineTopology: Topology = {
  name: 'pipeline',
  roles: [planner, actor, critic, verifier],
  async work(run) {
    const plan = await run.ask(run.remember('planner'), `Question: ${run.question}`, {
      wants: ['plan'],
      cause: null,
    })
    const lead = run.remember('actor')
    const course: Course = {
      message: `Question: ${run.question}\n\nYour team:\n${describeTeam(run)}\n\nThe plan: ${plan.text}`,
      cause: run.send('planner', 'actor', plan.text, plan.event),
      notes: [`Plan: ${plan.text}`],
    }
    // Where a look back belongs behind every call, the critic sits in; elsewhere it comes once, before the check.
    const sitsIn = run.settings.reflectEvery === 1
    for (;;) {
      const suggested = await workUntilSuggestion(run, lead, course, sitsIn ? 'critic' : undefined)
      if (suggested === undefined) return undefined
      if (!run.settings.hasCheck) return giveAnswer(run, lead, suggested.text, suggested.event)
      course.message = ''
      if (!sitsIn) await lookBack(run, 'critic', course)
      const { isGood, text, event } = await check(run, 'verifier', course, suggested, 'actor')
      if (isGood) return giveAnswer(run, lead, suggested.text, event)
      course.cause = run.send('verifier', 'actor', text, event)
      course.message = `The verifier does not agree: ${text}`
    }
  },
}
