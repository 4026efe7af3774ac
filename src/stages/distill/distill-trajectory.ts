import { buildPrompt, type Grammar, parseChain, renderSpans, validate } from '../../language/grammar/index.ts'
import type { Stream, Trajectory } from '../../schema/index.ts'
import type { Carried } from './carried.ts'
import { causalOrder } from './causal-order.ts'
import type { Draft } from './draft.ts'
import { goldSeers } from './gold.ts'
import { type Links, linksOf } from './links.ts'
import type { DistillMap } from './rules.ts'
import { Teller } from './teller.ts'
import { TurnReader } from './turn.ts'

export interface DistillOptions {
  grammar: Grammar
  /** A user's own rules, which win over the built-in ones. */
  map?: DistillMap
  /** A thought may quote what a tool returned. Default: no. */
  quotes?: boolean
  /** What agents thought is told beside what they said. Default: yes. */
  thoughts?: boolean
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
  return finish(trajectory, options.grammar, draftOf(links, options), links)
}

/** The id of the sequence made from a run. */
export function sequenceId(trajectoryId: string): string {
  return `distilled-${trajectoryId}`
}

/** The run as steps, before they are written in tags. */
export function draftOf(
  links: Links,
  { grammar, map = new Map(), quotes = false, thoughts = true }: DistillOptions,
): Draft {
  const reader = new TurnReader(links)
  const order = causalOrder(links, reader.ending)
  const teller = new Teller(grammar, map, { quotes, thoughts })
  const { draft } = teller
  const unread = order.events.flatMap((event) =>
    event.type === 'failed' && event.boundary === 'import' ? event.message : [],
  )
  draft.problems.push(...links.problems, ...order.problems, ...unread)
  const carriedBy = new Map<string, readonly Carried[]>()
  const everything = new Set<Carried>()
  for (const event of order.events) {
    const carried = carriedTo(event.id, links, carriedBy)
    const turn = reader.read(event)
    if (turn === undefined || draft.answered) {
      if (turn !== undefined) teller.leave(event.id, 'all', 'it comes after the answer')
      carriedBy.set(event.id, carried)
    } else if ('untold' in turn) {
      teller.leave(event.id, 'all', turn.untold)
      carriedBy.set(event.id, carried)
    } else {
      const onward = teller.tell(turn, carried)
      for (const item of onward) everything.add(item)
      carriedBy.set(event.id, onward)
    }
  }
  for (const { taken, event, as } of everything)
    if (!taken)
      teller.leave(event, as === 'thought' ? 'thought' : 'words', 'nothing that was told came of it')
  return draft
}

const nothing: readonly Carried[] = []

function carriedTo(
  id: string,
  links: Links,
  carriedBy: ReadonlyMap<string, readonly Carried[]>,
): readonly Carried[] {
  const causes = links.causes(links.byId.get(id)!)
  if (causes.length === 0) return nothing
  if (causes.length === 1) return carriedBy.get(causes[0]!) ?? nothing
  return [...new Set(causes.flatMap((cause) => carriedBy.get(cause) ?? nothing))]
}

/** The steps in their tags, with where they come from and what is wrong with them. */
export function finish(trajectory: Trajectory, grammar: Grammar, draft: Draft, links: Links): Stream {
  const { steps, left, folded, answered } = draft
  const spans = renderSpans(grammar, steps)
  const seers = goldSeers(links)
  const goldSpans = steps.flatMap(({ source }, index) => (source.some((id) => seers.has(id)) ? [index] : []))
  const problems = [...draft.problems, ...misfits(grammar, draft, spans)]
  return {
    v: 2,
    id: sequenceId(trajectory.id),
    taskId: trajectory.taskId,
    grammar: grammar.name,
    prompt: buildPrompt(grammar, trajectory.question),
    spans,
    provenance: { trajectoryId: trajectory.id, origin: 'distilled', sawGold: seers.size > 0 },
    ...(trajectory.verdict === undefined ? {} : { verdict: trajectory.verdict }),
    meta: {
      ...trajectory.meta,
      team: trajectory.team,
      ...(answered ? {} : { unanswered: true }),
      ...(problems.length === 0 ? {} : { problems }),
      ...(goldSpans.length === 0 ? {} : { sawGold: goldSpans }),
      ...(folded.length === 0 ? {} : { folded: folded.map((note) => ({ ...note })) }),
      ...(left.length === 0 ? {} : { leftOut: left.map((note) => ({ ...note })) }),
    },
  }
}

/** Speakers out of turn, and texts that the parser would stumble over. */
function misfits(grammar: Grammar, { steps }: Draft, spans: Stream['spans']): string[] {
  const { violations } = validate(
    grammar,
    steps.map(({ agent }) => agent),
  )
  const order = violations.map(({ index, message }) => `turn ${index}: ${message}`)
  // Bodies without a tag in them cannot disturb; their payloads were looked at when they were made.
  if (!steps.some(({ text }) => text.includes('<'))) return order
  const { diagnostics } = parseChain(grammar, spans.map((span) => span.text).join(''), { strict: true })
  return [...order, ...diagnostics.map(({ code, message }) => `${code}: ${message}`)]
}
