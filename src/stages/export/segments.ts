import { isTrained, type Message, type Stream } from '../../schema/index.ts'

/** A part of the stream that is either trained on or masked. */
export interface Segment {
  text: string
  trained: boolean
}

/** One example as a trainer reads it: the prompt, never trained on, and the stream after it. */
export interface Reading {
  prompt: Message[]
  /** No empty text, and no two neighbors of the same kind. */
  segments: Segment[]
}

/** The reference that every format is compared with. */
export function readingOf(sequence: Pick<Stream, 'prompt' | 'spans'>): Reading {
  const stream = sequence.spans.map((span) => ({ text: span.text, trained: isTrained(span) }))
  return { prompt: sequence.prompt, segments: joinSegments(stream) }
}

/** Joins neighbors of the same kind and drops empty parts: such borders do not affect training. */
export function joinSegments(parts: Iterable<Segment>): Segment[] {
  const segments: Segment[] = []
  for (const { text, trained } of parts) {
    if (text === '') continue
    const last = segments.at(-1)
    if (last?.trained === trained) last.text += text
    else segments.push({ text, trained })
  }
  return segments
}

/** Describes the first difference between the expected and the actual reading; undefined if there is none. */
export function firstDifference(wanted: Reading, found: Reading): string | undefined {
  for (let index = 0; index < Math.max(wanted.prompt.length, found.prompt.length); index++) {
    const [mine, theirs] = [wanted.prompt[index], found.prompt[index]]
    if (mine?.role !== theirs?.role || mine?.content !== theirs?.content)
      return `message ${index + 1} of the prompt is ${shown(theirs?.content)}, not ${shown(mine?.content)}`
  }
  for (let index = 0; index < Math.max(wanted.segments.length, found.segments.length); index++) {
    const [mine, theirs] = [wanted.segments[index], found.segments[index]]
    if (mine?.text === theirs?.text && mine?.trained === theirs?.trained) continue
    return `part ${index + 1} of the stream is ${described(theirs)}, not ${described(mine)}`
  }
  return undefined
}

/** Characters of each kind, in UTF-16 units. */
export function countCharacters({ segments }: Reading): { trained: number; masked: number } {
  const count = { trained: 0, masked: 0 }
  for (const { text, trained } of segments) count[trained ? 'trained' : 'masked'] += text.length
  return count
}

function described(segment: Segment | undefined): string {
  if (segment === undefined) return 'missing'
  return `${segment.trained ? 'trained' : 'masked'} ${shown(segment.text)} (${segment.text.length} characters)`
}

function shown(text: string | undefined): string {
  if (text === undefined) return 'missing'
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 40)}…${text.slice(-20)}` : text)
}
