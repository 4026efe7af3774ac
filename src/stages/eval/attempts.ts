import { streamTokens, type World } from '../../agent/index.ts'
import { digestOf } from '../../base/digests/index.ts'
import type { Tokenizer } from '../../language/tokens/index.ts'
import { checkAnswer, normalizeText } from '../../reward/index.ts'
import { type EvalAttempt, Message, type Rollout, type Task, type Trajectory } from '../../schema/index.ts'
import { isMemoryOnly } from '../../tasks/index.ts'
import type { Attempt, Solver } from './contract.ts'
import { TokenTally } from './token-tally.ts'

/** One attempt of a solver at a task. */
export interface AttemptJob {
  id: string
  solver: Solver
  task: Task
  position: number
  attempt: number
  seed: number
}

export function attemptId(solver: string, taskId: string, attempt: number): string {
  return `${solver}|${taskId}#${attempt}`
}

/** The stored form of an attempt. For a task that must not be written to disk, answer and evidence are left out. */
export function attemptRecord(job: AttemptJob, made: Attempt, tries: number, isKept: boolean): EvalAttempt {
  const { id, solver, task, position, attempt, seed } = job
  const { written, answer, verdict, ...rest } = made
  const isSecret = isMemoryOnly(task)
  const hops = task.meta['hops']
  return {
    v: 1,
    id,
    solver: solver.name,
    kind: solver.kind,
    how: solver.how,
    tokenizer: solver.tokenizer,
    taskId: task.id,
    position,
    suite: task.suite,
    ...(task.level === undefined ? {} : { level: task.level }),
    ...(typeof hops === 'number' ? { hops } : {}),
    attempt,
    seed,
    tries,
    ...(answer === undefined ? {} : { answer: isSecret ? digestOf(normalizeText(answer)) : answer }),
    verdict: isSecret ? { ...verdict, evidence: '' } : verdict,
    ...rest,
    ...(isKept && written !== undefined ? { source: { kind: written.kind, id: written.record.id } } : {}),
  }
}

/** Converts a rollout to an attempt. */
export function attemptOfRollout(rollout: Rollout): Attempt {
  const { answer, verdict, calls, wellFormed, ms, failure } = rollout
  const { requests, ...tokens } = streamTokens(rollout)
  return {
    ...(answer === undefined ? {} : { answer }),
    verdict: verdict ?? { outcome: 'undecided', checker: 'none', evidence: 'it was not checked' },
    tokens,
    calls: calls.length,
    requests,
    ms: Math.round(ms.sampling + ms.tools),
    wellFormed,
    ...(failure === undefined ? {} : { failure }),
    written: { kind: 'rollout', record: rollout },
  }
}

/** Converts a team run to an attempt; tokens are counted from what its agents were sent and wrote. */
export function attemptOfTrajectory(trajectory: Trajectory, tokenizer: Tokenizer): Attempt {
  const { events, answer, verdict, meta } = trajectory
  const tally = new TokenTally(tokenizer)
  const prompts = new Map<string, Message[]>()
  let calls = 0
  for (const event of events) {
    if (event.type === 'activated') prompts.set(event.id, event.messages.map(asMessage))
    if (event.type === 'wrote' && !isFree(event)) tally.add(prompts.get(event.parent ?? '') ?? [], event.text)
    if (event.type === 'tool-answered') tally.addTool(event.output)
    if (event.type === 'tool-called') calls++
  }
  const failure = failureOf(events)
  return {
    ...(answer === undefined ? {} : { answer }),
    verdict: verdict ?? { outcome: 'undecided', checker: 'none', evidence: 'it was not checked' },
    tokens: tally.totals(),
    calls,
    requests: tally.requests,
    ms: Number(meta['ms'] ?? events.at(-1)?.t ?? 0),
    ...(failure === undefined ? {} : { failure }),
    written: { kind: 'trajectory', record: trajectory },
  }
}

/** A copy of what the agent was given took no request. */
function isFree({ usage }: Pick<EventOf<'wrote'>, 'usage'>): boolean {
  return usage !== undefined && usage.promptTokens === 0 && usage.completionTokens === 0
}

type EventOf<Type> = Extract<Trajectory['events'][number], { type: Type }>

/** Imported teams may use other roles; for counting, they count as input. */
function asMessage({ role, content }: { role: string; content: string }): Message {
  return Message.safeParse({ role, content }).data ?? { role: 'user', content }
}

/** A run that ended because an agent wrote unusable text twice is unanswered, not an external failure. */
function failureOf(events: Trajectory['events']): Attempt['failure'] {
  const failed = events.findLast((event) => event.type === 'failed')
  if (failed === undefined) return undefined
  const before = events.at(events.indexOf(failed) - 1)
  if (before?.type === 'wrote' && before.said === undefined) return undefined
  return { boundary: failed.boundary, message: failed.message }
}

/** Checks an answer and returns the attempt. The time is that of the work, without the check. */
export async function checkedAttempt(
  task: Task,
  answer: string | undefined,
  world: World,
  signal: AbortSignal,
  rest: Omit<Attempt, 'answer' | 'verdict'>,
): Promise<Attempt> {
  const verdict = await checkAnswer(task.gold, answer, { ...world.check, question: task.question, signal })
  return { ...(answer === undefined ? {} : { answer }), verdict, ...rest }
}
