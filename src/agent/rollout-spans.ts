import { type Grammar, parseChain, STRAY, spansOf } from '../language/grammar/index.ts'
import type { Span } from '../schema/index.ts'
import type { ChainReader } from './chain-reader.ts'
import type { ContextPart } from './context.ts'

/**
 * The spans of a rollout: tokens from the context, text and turns from the chain. Inserted text is one observation;
 * sampled text is split into turns. An observation that the model wrote itself was sampled, so it is not of that kind
 * and is trained on like everything it wrote.
 */
export function rolloutSpans(
  grammar: Grammar,
  { text: raw, parts: texts }: Pick<ChainReader, 'text' | 'parts'>,
  parts: readonly ContextPart[],
): Span[] {
  const turns = turnsOf(grammar, raw)
  return parts.flatMap((part, index): Span[] => {
    const { start, tokenEnds } = texts[index]!
    const end = texts[index + 1]?.start ?? raw.length
    if (tokenEnds === undefined)
      return [{ agent: grammar.observation!.name, kind: 'observation', text: raw.slice(start, end), ...part }]
    return sampledSpans(raw, cutTurns(turns, raw, start, end), tokenEnds, part)
  })
}

interface Turn extends Pick<Span, 'agent' | 'kind'> {
  start: number
  end: number
}

function turnsOf(grammar: Grammar, raw: string): Turn[] {
  let start = 0
  return spansOf(parseChain(grammar, raw)).map(({ agent, kind, text }) => {
    const turn = { agent, kind, start, end: start + text.length }
    start = turn.end
    return turn
  })
}

/** The turns within one request, without gaps. White space next to an observation goes to the adjacent turn. */
function cutTurns(turns: readonly Turn[], raw: string, start: number, end: number): Turn[] {
  const cut: Turn[] = []
  for (const turn of turns) {
    const from = cut.at(-1)?.end ?? start
    const to = Math.min(turn.end, end)
    if (to <= from) continue
    const isBlankObservation = turn.kind === 'observation' && raw.slice(from, to).trim() === ''
    if (isBlankObservation && cut.length > 0) cut.at(-1)!.end = to
    else if (!isBlankObservation || to === end)
      cut.push({
        agent: turn.agent,
        kind: turn.kind === 'observation' ? 'role' : turn.kind,
        start: from,
        end: to,
      })
  }
  return cut.length > 0 ? cut : [{ agent: STRAY, kind: 'role', start, end }]
}

function sampledSpans(
  raw: string,
  turns: readonly Turn[],
  tokenEnds: readonly number[],
  { origin, tokens, logprobs, modelLogprobs, steps }: ContextPart,
): Span[] {
  let from = 0
  return turns.map(({ agent, kind, start, end }, index) => {
    let to = from
    const isLast = index === turns.length - 1
    while (to < tokens.length && (isLast || tokenEnds[to]! <= end)) to++
    const span: Span = {
      agent,
      kind,
      text: raw.slice(start, end),
      origin,
      tokens: tokens.slice(from, to),
      logprobs: logprobs!.slice(from, to),
      ...(modelLogprobs === undefined ? {} : { modelLogprobs: modelLogprobs.slice(from, to) }),
      ...(steps === undefined ? {} : { policies: runsOf(steps.slice(from, to)) }),
    }
    from = to
    return span
  })
}

function runsOf(steps: readonly number[]): NonNullable<Span['policies']> {
  const runs: NonNullable<Span['policies']> = []
  for (const step of steps) {
    const last = runs.at(-1)
    if (last?.step === step) last.tokens++
    else runs.push({ step, tokens: 1 })
  }
  return runs
}
