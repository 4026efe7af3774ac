import type { Contribution } from '../../../schema/index.ts'
import type { Memory, TeamRun, Turn } from '../contract.ts'
import { scoreOf } from '../reply.ts'
import { isError } from '../tool-output.ts'

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
  /** Answers found independently of each other. */
  answers?: string[]
  /** How often an answer has been compared with that of another agent. */
  rechecks?: number
  /** The leader has to find out more before it suggests another answer. */
  mustWork?: boolean
  notes: string[]
}

/**
 * Has a worker carry out an order: it calls its tool and reports the result. It may call again if the tool returned an error, or,
 * where the grammar allows a call right after another, instead of reporting.
 */
async function delegate(
  run: TeamRun,
  from: string,
  order: Turn,
  notes: readonly string[],
): Promise<{ report: string; event: string }> {
  const worker = run.remember(order.to!)
  const { workerSteps, reflectEvery } = run.settings
  let cause = run.send(from, order.to!, order.text, order.event)
  let message = run.sharesQuestion
    ? [...notes, `Your order: ${order.text}`].join('\n\n')
    : `The team's question: ${run.question}\n\nYour order: ${order.text}`
  let call = await run.ask(worker, message, { wants: ['call'], cause })
  for (let step = 1; ; step++) {
    const { event, result } = await run.call(worker, call)
    const mayCall = step < workerSteps && run.exhausted === undefined
    message = `Your tool answered:\n${result.text}`
    if (call.ignored !== undefined) message = `Only your first call was made. ${message}`
    const again = mayCall && isError(call.payload!, result)
    const next = await run.ask(worker, message, {
      // Where every call is followed by a reflection, one that went wrong is, too.
      wants: mayCall && reflectEvery > 1 ? ['report', 'call'] : [again ? 'reflection' : 'report'],
      cause: event,
      observation: result,
    })
    if (next.as === 'call') {
      call = next
      continue
    }
    if (!again) return { report: next.text, event: run.send(order.to!, from, next.text, next.event) }
    cause = next.event
    message = `That was an error. Your order: ${order.text}\n\nCorrect it, and call your tool again.`
    call = await run.ask(worker, message, { wants: ['call'], cause })
  }
}

/** Has a member review the work so far. It starts a new conversation, so it sees only the notes. */
export async function reflect(run: TeamRun, who: string, state: WorkState): Promise<void> {
  const view = await run.ask(run.remember(who), withQuestion(run, state.notes.join('\n')), {
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
    const isStuck =
      state.lastReport === undefined || state.mustWork === true || (state.rejections ?? 0) >= MOST_REJECTIONS
    const mustWork = run.settings.workFirst && isStuck
    const wants: Contribution[] = mustWork ? ['task'] : ['task', 'suggestion']
    const move = await run.ask(lead, state.message, { wants, cause })
    state.cause = move.event
    if (move.as === 'suggestion') return { ...move, isRejected: await run.isRejected(move.text) }
    // A small model that gives the same task again has nothing else to ask.
    if (run.mayConclude && given.has(move.text)) break
    given.add(move.text)
    const { report, event } = await delegate(run, lead.agent.name, move, state.notes)
    state.notes.push(`${move.to} was asked: ${move.text}`, `${move.to} reports: ${report}`)
    state.message = `${move.to} reports: ${report}`
    state.cause = event
    state.lastReport = event
    state.rejections = 0
    state.mustWork = false
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
 * Whether a suggested answer is checked before it is given: if the grammar has a check, if the checker rejects it, or if it can
 * be compared with the answer of an agent that works alone.
 */
export function needsCheck(run: TeamRun, state: WorkState, { isRejected, text }: Suggested): boolean {
  const { hasCheck, recheck } = run.settings
  if (hasCheck || isRejected) return true
  return recheck > 0 && !isProgram(text) && (state.rechecks ?? 0) < recheck && run.exhausted === undefined
}

const isProgram = (answer: string): boolean => answer.startsWith('```')

/**
 * Compares a suggested answer with earlier ones and, if it is new, with that of an agent that solves the question alone. If they
 * differ, the leader has to work on, without being told the other answer: it would only repeat it.
 */
async function compare(
  run: TeamRun,
  who: string,
  state: WorkState,
  { text, event }: Suggested,
  from: string,
): Promise<Check> {
  const answers = state.answers ?? []
  state.answers = [...answers, text]
  for (const other of answers) if (await run.isSame(text, other)) return { isGood: true, text, event }
  state.rechecks = (state.rechecks ?? 0) + 1
  const alone = await run.ask(run.remember(who), withQuestion(run, 'Solve it on your own.'), {
    wants: ['suggestion'],
    cause: run.send(from, who, text, event),
    reasons: true,
  })
  state.answers.push(alone.text)
  if (await run.isSame(text, alone.text)) return { isGood: true, text: alone.text, event: alone.event }
  state.mustWork = true
  return { isGood: false, text: DIFFERS, event: alone.event }
}

const DIFFERS =
  'without this work, the answer comes out differently. Have it worked out again, in another way.'

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
  if (!isRejected && needsCheck(run, state, suggested) && !run.settings.hasCheck)
    return compare(run, who, state, suggested, from)
  const cause = run.send(from, who, suggested.text, suggested.event)
  const judged = await run.ask(
    run.remember(who),
    withQuestion(
      run,
      state.notes.join('\n'),
      `Suggested answer: ${suggested.text}`,
      ...(isRejected ? [rejection] : []),
    ),
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

/** A message about the question, which is left out where the system prompt has it. */
export function withQuestion(run: TeamRun, ...parts: readonly string[]): string {
  const question = run.sharesQuestion ? [] : [`Question: ${run.question}`]
  return [...question, ...parts].join('\n\n')
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
