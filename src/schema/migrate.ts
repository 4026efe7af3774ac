import type { RecordKind } from './records.ts'

type Json = Record<string, unknown>
interface Segment extends Json {
  origin: 'prompt' | 'sampled' | 'inserted'
  tokens: number[]
  shortened?: { from: number; tokens: number[] }
}

/** Records as earlier versions wrote them, brought to the current shape; all others as they are. */
export function migrate(kind: RecordKind, record: unknown): unknown {
  if (typeof record !== 'object' || record === null || (record as Json)['v'] !== 1) return record
  if (kind === 'sequence') return sequenceOfVersion1(record as Json)
  return kind === 'rollout' ? rolloutOfVersion1(record as Json) : record
}

/** Spans named their events `source` and had the mask as a flag of their own. The mask decides, so the kind follows it. */
function sequenceOfVersion1(record: Json): unknown {
  if (!Array.isArray(record['spans'])) return record
  const spans = record['spans'].map(({ source = [], trainable, kind, ...span }: Json) => ({
    ...span,
    kind: trainable === false ? 'observation' : kind === 'observation' ? 'role' : kind,
    origin: { events: source },
  }))
  return { ...record, v: 2, spans }
}

/**
 * Rollouts had one text, and tokens by request. An inserted part is an observation in its tag between two line breaks,
 * so the text can be divided; turns within a request were not recorded, and each becomes one span.
 */
function rolloutOfVersion1(record: Json): unknown {
  const { segments, text, tokensByAgent: _, ...rest } = record
  if (!Array.isArray(segments) || typeof text !== 'string') return record
  const parts = (segments as Segment[]).filter(({ origin }) => origin !== 'prompt')
  const prompt = (segments as Segment[]).find(({ origin }) => origin === 'prompt')
  const texts = textsOf(text, parts)
  let [request, call] = [0, 0]
  const spans = parts.map(({ origin, shortened, ...columns }, at): Json => {
    const text = texts[at]!
    if (origin === 'sampled')
      return { agent: '', kind: 'role', text, origin: { request: request++ }, ...columns }
    const from = shortened && { ...shortened, request: requestAt(segments, shortened.from) }
    return {
      agent: 'observation',
      kind: 'observation',
      text,
      origin: { call: call++ },
      ...columns,
      ...(from === undefined ? {} : { shortened: from }),
    }
  })
  // Where tokens were not kept, the text is still worth having.
  if (parts.length === 0 && text !== '') spans.push({ agent: '', kind: 'role', text, origin: { request: 0 } })
  return {
    ...rest,
    v: 2,
    prompt: [],
    ...(prompt === undefined ? {} : { promptTokens: prompt.tokens }),
    spans,
  }
}

/** The number of the first request at or after a segment. */
function requestAt(segments: readonly Segment[], from: number): number {
  return segments.slice(0, from).filter(({ origin }) => origin === 'sampled').length
}

/** One text for each part; where observations cannot be found, all of it goes to the first part. */
function textsOf(text: string, parts: readonly Segment[]): string[] {
  const inserted = [...text.matchAll(/\n<observation>[\s\S]*?<\/observation>\n/g)]
  const count = parts.filter(({ origin }) => origin === 'inserted').length
  if (inserted.length !== count) return parts.map((_, at) => (at === 0 ? text : ''))
  let [position, next] = [0, 0]
  return parts.map(({ origin }, at) => {
    const found = inserted[next]
    if (origin === 'inserted') {
      next++
      position = found!.index + found![0].length
      return found![0]
    }
    // Of several requests in a row the last one gets the text up to the observation.
    if (parts[at + 1]?.origin === 'sampled') return ''
    const piece = text.slice(position, found?.index)
    position += piece.length
    return piece
  })
}
