import type { AgentSpec, Topology } from '../contract.ts'
import { critic, planner, verifier } from './roles.ts'
import { type Course, check, describeTeam, giveAnswer, workUntilSuggestion } from './shared.ts'

const generator: AgentSpec = {
  name: 'generator',
  instructions: 'You work towards a first answer, one order to a member of your team at a time.',
}
const refiner: AgentSpec = {
  name: 'refiner',
  instructions:
    'You are given work that a verifier found wanting. Find out what is missing, one order to a member of your team at ' +
    'a time, and suggest a better answer.',
}

/** One agent generates an answer, another verifies it, and a third refines it until it holds. */
export const refineTopology: Topology = {
  name: 'refine',
  roles: [planner, generator, refiner, critic, verifier],
  async work(run) {
    const plan = await run.ask(run.remember('planner'), `Question: ${run.question}`, {
      wants: ['plan'],
      cause: null,
    })
    const team = describeTeam(run)
    const course: Course = { message: '', cause: plan.event, notes: [`Plan: ${plan.text}`] }
    const sitsIn = run.settings.reflectEvery === 1 ? 'critic' : undefined
    let who = 'generator'
    let refusal = ''
    for (;;) {
      const lead = run.remember(who)
      course.message = `Question: ${run.question}\n\nYour team:\n${team}\n\n${course.notes.join('\n')}${refusal}`
      const suggested = await workUntilSuggestion(run, lead, course, sitsIn)
      if (suggested === undefined) return undefined
      if (!run.settings.hasCheck) return giveAnswer(run, lead, suggested.text, suggested.event)
      const { isGood, text, event } = await check(run, 'verifier', course, suggested, who)
      if (isGood) return giveAnswer(run, lead, suggested.text, event)
      course.cause = run.send('verifier', 'refiner', text, event)
      refusal = `\n\nThe verifier does not agree: ${text}`
      who = 'refiner'
    }
  },
}
