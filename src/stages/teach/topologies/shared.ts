import type { Contribution } from '../../../schema/index.ts'
import type { ToolResult } from '../../../world/tools/index.ts'
import type { Memory, TeamRun, Turn } from '../contract.ts'
import { scoreOf } from '../reply.ts'

/** The state of the work: the next message to the leader, its cause, and the notes that everyone may see. */
export interface WorkState {
  message: string
  cause: string
  /** The event of the last report: the cause of a reflection. */
  lastReport?: string
  /** Answers rejected since the last report. */
  rejections?: number
  /** No more tasks may be given, and the leader has been asked for its answer. */
  isConcluded?: boolean
  notes: string[]
}

/**
 * Has a worker carry out an order: it calls its tool and reports the result. It may call again if the tool returned an error, or,
 * where the grammar allows a call right after another, instead of reporting.
 */
async function delegate(run: TeamRun, from: string, order: Turn): Promise<{ report: string; event: string }> {
  const worker = run.remember(order.to!)
  const { workerSteps, reflectEvery } = run.settings
  let cause = run.send(from, order.to!, order.text, order.event)
  let message = `The team's question: ${run.question}\n\nYour order: ${order.text}`
  let call = await run.ask(worker, message, { wants: ['call'], cause })
  for (let step = 1; ; step++) {
    const { event, result } = await run.call(worker, call)
    const mayCall = step < workerSteps && run.exhausted === undefined
    message = `Your tool answered:\n${result.text}`
    if (call.ignored !== undefined) message = `Only your first call was made. ${message}`
    const next = await run.ask(worker, message, {
      wants: mayCall && reflectEvery > 1 ? ['report', 'call'] : ['report'],
      cause: event,
      observation: result,
    })
    if (next.as === 'call') {
      call = next
      continue
    }
    if (!mayCall || !isError(result))
      return { report: next.text, event: run.send(order.to!, from, next.text, next.event) }
    cause = next.event
    message = `That was an error. Your order: ${order.text}\n\nCorrect it, and call your tool again.`
    call = await run.ask(worker, message, { wants: ['call'], cause })
  }
}

/** Whether a call went wrong: the tool failed, or the program that it ran. */
function isError({ ok, provenance, text }: ToolResult): boolean {
  const exit = provenance['exit']
  return !ok || (exit !== undefined && exit !== 0) || text === 'The program printed nothing.'
}

/** Has a member review the work so far. It starts a new conversation, so it sees only the notes. */
export async function reflect(run: TeamRun, who: string, state: WorkState): Promise<void> {
  const view = await run.ask(run.remember(who), `Question: ${run.question}\n\n${state.notes.join('\n')}`, {
    wants: ['reflection'],
    cause: state.lastReport ?? state.cause,
  })
  state.notes.push(`The ${who} says: ${view.text}`)
  state.message += `\n\nThe ${who} says: ${view.text}`
  state.cause = view.event
}

export interface Suggested extends Turn {
  /** The checker rejects it, so nobody may accept it: see `teach.verdicts`. */
  isRejected: boolean
}

/** After this many rejected answers, a model has to find out more before it may suggest another. */
const MOST_REJECTIONS = 2

/**
 * Has a leader give orders until it suggests an answer. A model that may make no more tool calls, or repeats a
 * task, is asked for the answer that it has by then; otherwise undefined if a limit is reached first.
 */
export async function workUntilSuggestion(
  run: TeamRun,
  lead: Memory,
  state: WorkState,
  critic?: string,
): Promise<Suggested | undefined> {
  const given = new Set<string>()
  for (let calls = 1; run.exhausted === undefined; calls++) {
    const { cause } = state
    const isStuck = state.lastReport === undefined || (state.rejections ?? 0) >= MOST_REJECTIONS
    const mustWork = run.settings.workFirst && isStuck
    const wants: Contribution[] = mustWork ? ['task'] : ['task', 'suggestion']
    const move = await run.ask(lead, state.message, { wants, cause })
    state.cause = move.event
    if (move.as === 'suggestion') return { ...move, isRejected: await run.isRejected(move.text) }
    // A small model that gives the same task again has nothing else to ask.
    if (run.mayConclude && given.has(move.text)) break
    given.add(move.text)
    const { report, event } = await delegate(run, lead.agent.name, move)
    state.notes.push(`${move.to} was asked: ${move.text}`, `${move.to} reports: ${report}`)
    state.message = `${move.to} reports: ${report}`
    state.cause = event
    state.lastReport = event
    state.rejections = 0
    if (critic === undefined || calls % run.settings.reflectEvery !== 0) continue
    await reflect(run, critic, state)
    state.cause = run.send(critic, lead.agent.name, state.notes.at(-1)!, state.cause)
  }
  if (!run.mayConclude || state.lastReport === undefined || state.isConcluded === true) return undefined
  state.isConcluded = true
  const { cause } = state
  const last = await run.ask(lead, state.message, { wants: ['suggestion'], cause })
  state.cause = last.event
  return { ...last, isRejected: await run.isRejected(last.text) }
}

export interface Check {
  isGood: boolean
  text: string
  event: string
}

/** What an agent is told about an answer that the checker rejected. The words of the check have to be its own. */
const rejection =
  'This answer is not correct. Reject it, and say which step may be wrong, or what is missing or should be computed or ' +
  'looked up again. Do not say how you know.'

/**
 * Has a suggested answer checked by an agent that sees only the notes. In grammars without a check, an agent is only asked about
 * an answer that the checker rejected, and reflects on it.
 */
export async function check(
  run: TeamRun,
  who: string,
  state: WorkState,
  suggested: Suggested,
  from: string,
): Promise<Check> {
  const { isRejected } = suggested
  const cause = run.send(from, who, suggested.text, suggested.event)
  const judged = await run.ask(
    run.remember(who),
    `Question: ${run.question}\n\n${state.notes.join('\n')}\n\nSuggested answer: ${suggested.text}` +
      (isRejected ? `\n\n${rejection}` : ''),
    {
      wants: [isRejected && !run.settings.hasCheck ? 'reflection' : 'check'],
      cause,
      suggestion: suggested.text,
      // A chain in which a check accepts an answer and then goes on would contradict itself.
      ...(isRejected
        ? { refuse: ({ as, text }) => (as === 'check' && accepts(text) ? contradiction : undefined) }
        : {}),
    },
  )
  state.notes.push(`The ${who} on "${suggested.text}": ${judged.text}`)
  if (isRejected || !accepts(judged.text)) state.rejections = (state.rejections ?? 0) + 1
  return { isGood: !isRejected && accepts(judged.text), text: judged.text, event: judged.event }
}

const contradiction = 'the answer is not correct, so its score is 1 or 2'

/** A check without a score rejects the answer. */
function accepts(check: string): boolean {
  return (scoreOf(check) ?? 1) >= 3
}

export async function giveAnswer(
  run: TeamRun,
  who: Memory,
  suggestion: string,
  cause: string,
): Promise<{ answer: string; event: string }> {
  const final = await run.ask(who, 'Now give the answer.', { wants: ['answer'], cause, suggestion })
  return { answer: final.text, event: final.event }
}

/** The workers, as their leader reads about them. */
export function describeTeam(run: TeamRun, crew?: string): string {
  return run.workers
    .filter((worker) => worker.crew === crew)
    .map(
      ({ name, tool, description }) =>
        `- ${name} has one tool, ${tool}, and uses it when you ask. ${description}`,
    )
    .join('\n')
}
