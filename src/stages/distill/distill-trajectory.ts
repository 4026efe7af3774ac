import { buildPrompt, type Grammar, parseChain, renderSpans, validate } from '../../language/grammar/index.ts'
import { agentNames, toolLikeTexts, type VoiceOptions } from '../../language/voice/index.ts'
import type { Stream, Trajectory, TrajectoryEvent } from '../../schema/index.ts'
import { causalOrder, type Links, linksOf } from './causal-order.ts'
import type { Draft, Pending } from './draft.ts'
import { laterMessages } from './later-messages.ts'
import type { DistillMap } from './rules.ts'
import { StreamWriter } from './stream-writer.ts'
import { TurnReader } from './turn.ts'
import { speakerOf } from './voice.ts'

export interface DistillOptions {
  grammar: Grammar
  /** The user's rules, which take precedence over the built-in ones. */
  map?: DistillMap
  /** A thought may quote what a tool returned. Default: no. */
  quotes?: boolean
  /** Include what agents thought in addition to what they said. Default: yes. */
  thoughts?: boolean
  /** Rules that make the team's text that of a single agent. Default: the built-in ones. */
  voice?: VoiceOptions
}

/**
 * Merges a team's trajectory into a single-agent sequence. A turn that the grammar requires and nobody took is reported in
 * `meta.problems`; nothing is invented.
 *
 * @example
 * import { distillTrajectory, loadGrammar, openRun } from 'chain-of-agents'
 *
 * using run = openRun('runs/my-run')
 * const trajectory = run.get('trajectory', 'run-1')!
 * const { spans, meta } = distillTrajectory(trajectory, { grammar: await loadGrammar('math') })
 * console.log(spans.map(({ agent }) => agent), meta['problems'])
 */
export function distillTrajectory(trajectory: Trajectory, options: DistillOptions): Stream {
  const links = linksOf(trajectory)
  return finish(trajectory, options.grammar, draftOf(trajectory, links, options), links)
}

/** The id of the sequence distilled from a trajectory. */
export function sequenceId(trajectoryId: string): string {
  return `distilled-${trajectoryId}`
}

/** The run as steps, before they are rendered with tags. */
export function draftOf(
  { events, question }: Pick<Trajectory, 'events' | 'question'>,
  links: Links,
  { grammar, map = new Map(), quotes = false, thoughts = true, voice }: DistillOptions,
): Draft {
  const reader = new TurnReader(links)
  const speaker = speakerOf(agentNames(events), question, voice)
  const order = causalOrder(links, reader.ending)
  const writer = new StreamWriter(grammar, map, { quotes, thoughts })
  const { draft } = writer
  const unread = order.events.flatMap((event) =>
    event.type === 'failed' && event.boundary === 'import' ? event.message : [],
  )
  draft.problems.push(...links.problems, ...order.problems, ...unread)
  draft.omitted.push(...laterMessages(links, question))
  const leaveOut = (event: TrajectoryEvent, reason: string): void => {
    for (const { id } of withCalls(event, links)) writer.omit(id, 'all', reason)
  }
  const pendingAfter = new Map<string, readonly Pending[]>()
  const everything = new Set<Pending>()
  for (const event of order.events) {
    const pending = pendingFor(event.id, links, pendingAfter)
    const turn = reader.read(event)
    if (turn === undefined || draft.answered) {
      if (turn !== undefined) leaveOut(event, 'it comes after the answer')
      pendingAfter.set(event.id, pending)
    } else if ('skipped' in turn) {
      leaveOut(event, turn.skipped)
      pendingAfter.set(event.id, pending)
    } else {
      const onward = writer.write(speaker.speak(turn), pending)
      for (const item of onward) everything.add(item)
      pendingAfter.set(event.id, onward)
    }
  }
  for (const { used, event, as } of everything)
    if (!used)
      writer.omit(event, as === 'thought' ? 'thought' : 'words', 'nothing in the stream depends on it')
  draft.voice = speaker.counts
  draft.voiceExamples = speaker.examples
  return draft
}

/** A turn with its calls and their results, which are read with it. */
function withCalls(event: TrajectoryEvent, links: Links): TrajectoryEvent[] {
  if (event.type !== 'wrote' && event.type !== 'tool-called') return [event]
  const calls = event.type === 'wrote' ? links.children(event.id).filter(isCall) : [event]
  const results = calls.flatMap(({ id }) => links.children(id).find(isResult) ?? [])
  return [...new Set([event, ...calls, ...results])]
}

const isCall = ({ type }: TrajectoryEvent): boolean => type === 'tool-called'
/** Only the first; the others are left out by themselves. */
const isResult = ({ type }: TrajectoryEvent): boolean => type === 'tool-answered'

const nothing: readonly Pending[] = []

function pendingFor(
  id: string,
  links: Links,
  pendingAfter: ReadonlyMap<string, readonly Pending[]>,
): readonly Pending[] {
  const causes = links.causes(links.byId.get(id)!)
  if (causes.length === 0) return nothing
  if (causes.length === 1) return pendingAfter.get(causes[0]!) ?? nothing
  return [...new Set(causes.flatMap((cause) => pendingAfter.get(cause) ?? nothing))]
}

/** Renders the steps with their tags and adds provenance and problems. */
export function finish(trajectory: Trajectory, grammar: Grammar, draft: Draft, links: Links): Stream {
  const { steps, omitted, folded, answered, voice, voiceExamples } = draft
  const spans = renderSpans(grammar, steps)
  const sawGold = goldEvents(links)
  const goldSpans = steps.flatMap(({ source }, index) =>
    source.some((id) => sawGold.has(id)) ? [index] : [],
  )
  const problems = [...draft.problems, ...grammarProblems(grammar, draft, spans)]
  const trained = new Set(
    steps.flatMap(({ source }, index) =>
      spans[index]!.kind === 'role' || spans[index]!.kind === 'answer' ? source : [],
    ),
  )
  const toolLike = toolLikeTexts(trajectory.events).filter(({ event }) => trained.has(event))
  // An import has already left out what is in no event.
  const imported = trajectory.meta['leftOut']
  const leftOut = [...(Array.isArray(imported) ? imported : []), ...omitted.map((note) => ({ ...note }))]
  return {
    v: 2,
    id: sequenceId(trajectory.id),
    taskId: trajectory.taskId,
    grammar: grammar.name,
    prompt: buildPrompt(grammar, trajectory.question),
    spans,
    provenance: { trajectoryId: trajectory.id, origin: 'distilled', sawGold: sawGold.size > 0 },
    ...(trajectory.verdict === undefined ? {} : { verdict: trajectory.verdict }),
    meta: {
      ...trajectory.meta,
      team: trajectory.team,
      ...(answered ? {} : { unanswered: true }),
      ...(problems.length === 0 ? {} : { problems }),
      ...(goldSpans.length === 0 ? {} : { sawGold: goldSpans }),
      ...(folded.length === 0 ? {} : { folded: folded.map((note) => ({ ...note })) }),
      ...(voice.size === 0 ? {} : { voice: Object.fromEntries(voice) }),
      ...(voiceExamples.size === 0 ? {} : { voiceExamples: jsonOf(voiceExamples) }),
      ...(leftOut.length === 0 ? {} : { leftOut }),
      ...(toolLike.length === 0 ? {} : { toolLike: toolLike.map((note) => ({ ...note })) }),
    },
  }
}

const jsonOf = (texts: ReadonlyMap<string, readonly string[]>): Record<string, string[]> =>
  Object.fromEntries([...texts].map(([name, some]) => [name, [...some]]))

/** Turns that violate the grammar's order, and texts that would confuse the parser. */
function grammarProblems(grammar: Grammar, { steps }: Draft, spans: Stream['spans']): string[] {
  const { violations } = validate(
    grammar,
    steps.map(({ agent }) => agent),
  )
  const order = violations.map(({ index, message }) => `turn ${index}: ${message}`)
  // Bodies without a tag cannot confuse the parser; their payloads were checked when they were built.
  if (!steps.some(({ text }) => text.includes('<'))) return order
  const { diagnostics } = parseChain(grammar, spans.map((span) => span.text).join(''), { strict: true })
  return [...order, ...diagnostics.map(({ code, message }) => `${code}: ${message}`)]
}

/**
 * Events written by an activation whose prompt contained the gold answer. A single one is enough for the sequence to
 * count as having seen it, used or not: what the agent said may have led the others.
 */
function goldEvents({ byId }: Links): ReadonlySet<string> {
  const sawGold = new Set<string>()
  for (const event of byId.values()) {
    if (event.type === 'activated') continue
    let above = byId.get(event.parent ?? '')
    // A corrupt recording may have cycles, and no chain of causes is longer than the run.
    for (let steps = 0; above !== undefined && above.type !== 'activated' && steps < byId.size; steps++)
      above = byId.get(above.parent ?? '')
    if (above?.type === 'activated' && above.sawGold === true) sawGold.add(event.id)
  }
  return sawGold
}
