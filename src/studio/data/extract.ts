import { streamTokens } from '../../agent/stream-tokens.ts'
import type { EvalAttempt, Mark, Rollout, Stream, Task, Trajectory } from '../../schema/index.ts'

export type Value = string | number | null
export type Row = Record<string, Value>

/** Questions and answers in lists. */
const SHOWN = 300

export function taskRow(task: Task): Row {
  const { suite, domain, split = null, level = null, question, meta } = task
  return {
    suite,
    domain,
    split,
    level,
    question: shown(question),
    isTest: meta?.['for'] === 'eval' ? 1 : 0,
  }
}

export function trajectoryRow({ taskId, team, question, events, answer, verdict, meta }: Trajectory): Row {
  const agents = new Set<string>()
  let [calls, tokens, end] = [0, 0, 0]
  for (const event of events) {
    agents.add(event.agent)
    end = Math.max(end, event.t)
    if (event.type === 'tool-called') calls++
    if (event.type === 'wrote' && event.usage !== undefined)
      tokens += event.usage.promptTokens + event.usage.completionTokens
  }
  return {
    taskId,
    suite: suiteIn(meta),
    team,
    outcome: verdict?.outcome ?? 'unchecked',
    question: shown(question),
    answer: shown(answer),
    events: events.length,
    agents: agents.size,
    calls,
    tokens,
    seconds: end / 1000,
  }
}

export function chainRow(stream: Stream): Row {
  const { taskId = null, grammar, prompt, spans, provenance, verdict, meta } = stream
  let [calls, characters] = [0, 0]
  for (const { kind, text } of spans) {
    characters += text.length
    if (kind === 'call') calls++
  }
  return {
    taskId,
    trajectoryId: provenance?.trajectoryId ?? null,
    suite: suiteIn(meta),
    grammar,
    origin: provenance?.origin ?? '',
    outcome: verdict?.outcome ?? 'unchecked',
    question: shown(prompt.findLast(({ role }) => role === 'user')?.content ?? ''),
    spans: spans.length,
    calls,
    characters,
  }
}

export function rolloutRow(rollout: Rollout): Row {
  const { taskId, groupId, checkpoint, verdict, reward = null, stop, wellFormed, calls, ms } = rollout
  let [tokens, toolTokens] = [0, 0]
  for (const { origin, tokens: own = [] } of rollout.spans) {
    if ('call' in origin) toolTokens += own.length
    else tokens += own.length
  }
  return {
    taskId,
    groupId,
    suite: suiteIn(rollout.meta),
    step: stepOfGroup(groupId),
    checkpoint,
    outcome: verdict?.outcome ?? 'unchecked',
    reward,
    advantage: null,
    stop,
    wellFormed: wellFormed ? 1 : 0,
    calls: calls.length,
    tokens,
    toolTokens,
    seconds: (ms.sampling + ms.tools + ms.checking) / 1000,
    answer: shown(rollout.answer),
    failure: shown(rollout.failure?.message),
    billed: streamTokens(rollout).billed,
  }
}

export function attemptRow(attempt: EvalAttempt): Row {
  const { taskId, suite, solver, kind, verdict, answer, tokens, calls, ms, failure, source } = attempt
  return {
    taskId,
    suite,
    solver,
    kind,
    attempt: attempt.attempt,
    outcome: verdict.outcome,
    answer: shown(answer),
    tokens: tokens.once,
    calls,
    seconds: ms / 1000,
    failure: shown(failure?.message),
    sourceKind: source?.kind ?? null,
    sourceId: source?.id ?? null,
  }
}

export function markRow({ of, rating, note, by, at }: Mark): Row {
  return { recordKind: of.kind, recordId: of.id, rating, note: note ?? null, by, at }
}

/** The step that a group was sampled for; RL names its groups after it. */
function stepOfGroup(groupId: string): number | null {
  const [, step] = /^rl-(\d+)-\d+$/.exec(groupId) ?? []
  return step === undefined ? null : Number(step)
}

/** Empty if the record does not say; the task may. */
function suiteIn(meta: Record<string, unknown> | undefined): string {
  const suite = meta?.['suite']
  return typeof suite === 'string' ? suite : ''
}

function shown(text: string): string
function shown(text: string | undefined): string | null
function shown(text: string | undefined): string | null {
  if (text === undefined) return null
  // A half of a surrogate pair at the end could not be stored.
  return (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text).toWellFormed()
}
