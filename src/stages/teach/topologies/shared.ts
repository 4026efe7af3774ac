import type { Memory, TeamRun, Turn } from '../contract.ts'
import { scoreOf } from '../reply.ts'

/** Where the work stands: what an agent is told next, what caused it, and what everyone may know. */
export interface Course {
  message: string
  cause: string
  /** The last report: what whoever looks back knows the work by. */
  reported?: string
  notes: string[]
}

/** Has a worker carry out an order: it writes a call, its tool answers, it reports. */
async function delegate(run: TeamRun, from: string, order: Turn): Promise<{ report: string; event: string }> {
  const worker = run.remember(order.to!)
  const sent = run.send(from, order.to!, order.text, order.event)
  const call = await run.ask(worker, `Question of the team: ${run.question}\n\nYour order: ${order.text}`, {
    wants: ['call'],
    cause: sent,
  })
  const { event, result } = await run.call(worker, call)
  const report = await run.ask(worker, `Your tool answered:\n${result.text}`, {
    wants: ['report'],
    cause: event,
    observation: result,
  })
  return { report: report.text, event: run.send(order.to!, from, report.text, report.event) }
}

/** Has a member look back at the work so far, with fresh eyes: it remembers nothing but the notes. */
export async function lookBack(run: TeamRun, who: string, course: Course): Promise<void> {
  const view = await run.ask(run.remember(who), `Question: ${run.question}\n\n${course.notes.join('\n')}`, {
    wants: ['reflection'],
    cause: course.reported ?? course.cause,
  })
  course.notes.push(`The ${who} says: ${view.text}`)
  course.message += `\n\nThe ${who} says: ${view.text}`
  course.cause = view.event
}

/** Lets a leader give orders until it suggests an answer. Undefined when the limits are reached first. */
export async function workUntilSuggestion(
  run: TeamRun,
  lead: Memory,
  course: Course,
  critic?: string,
): Promise<Turn | undefined> {
  for (let calls = 1; run.exhausted === undefined; calls++) {
    const { cause } = course
    const move = await run.ask(lead, course.message, { wants: ['task', 'suggestion'], cause })
    course.cause = move.event
    if (move.as === 'suggestion') return move
    const { report, event } = await delegate(run, lead.agent.name, move)
    course.notes.push(`${move.to} was told: ${move.text}`, `${move.to} reports: ${report}`)
    course.message = `${move.to} reports: ${report}`
    course.cause = event
    course.reported = event
    if (critic === undefined || calls % run.settings.reflectEvery !== 0) continue
    await lookBack(run, critic, course)
    course.cause = run.send(critic, lead.agent.name, course.notes.at(-1)!, course.cause)
  }
  return undefined
}

export interface Check {
  isGood: boolean
  text: string
  event: string
}

/** Has a suggested answer checked by someone who knows only the notes. */
export async function check(
  run: TeamRun,
  who: string,
  course: Course,
  suggested: Turn,
  from: string,
): Promise<Check> {
  const cause = run.send(from, who, suggested.text, suggested.event)
  const judged = await run.ask(
    run.remember(who),
    `Question: ${run.question}\n\n${course.notes.join('\n')}\n\nSuggested answer: ${suggested.text}`,
    { wants: ['check'], cause, suggestion: suggested.text },
  )
  course.notes.push(`The ${who} on "${suggested.text}": ${judged.text}`)
  // A check without a score agrees with nothing.
  return { isGood: (scoreOf(judged.text) ?? 1) >= 3, text: judged.text, event: judged.event }
}

/** The last word. */
export async function giveAnswer(
  run: TeamRun,
  who: Memory,
  suggestion: string,
  cause: string,
): Promise<{ answer: string; event: string }> {
  const final = await run.ask(who, 'The answer may be given.', { wants: ['answer'], cause, suggestion })
  return { answer: final.text, event: final.event }
}

/** The members with tools, as a leader is told about them. */
export function describeTeam(run: TeamRun, crew?: string): string {
  return run.workers
    .filter((worker) => worker.crew === crew)
    .map(({ name, instructions }) => `- ${name}: ${instructions}`)
    .join('\n')
}
