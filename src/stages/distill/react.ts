import { buildPrompt, type Grammar, parseChain, reactGrammar } from '../../language/grammar/index.ts'
import { reactId, reactOrigin, type Span, type Stream, streamText } from '../../schema/index.ts'

/**
 * The same work as a single ReAct agent would have written it: each call and the answer with the thought before it,
 * and the tool outputs. Plans, reflections and checks are left out along with the thoughts before them. Returns a
 * string with the reason if there is no such sequence.
 */
export function reactOf(sequence: Stream, grammar: Grammar): Stream | string {
  const { provenance, prompt, meta } = sequence
  const trajectoryId = provenance?.trajectoryId
  const question = prompt.findLast(({ role }) => role === 'user')?.content
  if (trajectoryId === undefined || question === undefined) return 'not distilled from a team run'
  if (meta['unanswered'] === true) return 'no answer'
  const react = reactGrammar(grammar)
  const spans = spaced(sequence.spans.filter((span, at) => isKept(react, span, sequence.spans[at + 1])))
  const { diagnostics, order } = parseChain(react, streamText({ spans }), { strict: true })
  const fault = (diagnostics[0] ?? order.violations[0])?.message
  if (fault !== undefined) return fault
  const rest = Object.fromEntries(Object.entries(meta).filter(([name]) => !ofTheOther.has(name)))
  return {
    ...sequence,
    id: reactId(trajectoryId),
    grammar: react.name,
    prompt: buildPrompt(react, question),
    spans,
    provenance: { ...provenance!, origin: reactOrigin },
    meta: rest,
  }
}

/** Refer to spans or texts of the sequence that this one is made from. */
const ofTheOther = new Set([
  'problems',
  'sawGold',
  'folded',
  'leftOut',
  'voice',
  'voiceExamples',
  'toolLike',
  'smoothed',
  'smoothingRejected',
])

function isKept({ prelude }: Grammar, { kind, agent }: Span, next: Span | undefined): boolean {
  if (kind !== 'role') return true
  return agent === prelude?.agent && next !== undefined && prelude.before.has(next.agent)
}

/**
 * One block per line where blocks in between were removed. Around observations nothing changes, because their calls
 * are kept.
 */
function spaced(spans: readonly Span[]): Span[] {
  return spans.map((span, at) => {
    if (span.kind === 'observation') return span
    const isFirst = at === 0 || spans[at - 1]!.kind === 'observation'
    return { ...span, text: `${isFirst ? '' : '\n'}${span.text.replace(/^\n/, '')}` }
  })
}
