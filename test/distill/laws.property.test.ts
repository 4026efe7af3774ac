import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  isWellFormed,
  type Payload,
  parseChain,
  renderPayload,
  renderStep,
  spansOf,
} from '../../src/language/grammar/index.ts'
import { byteTokenizer, encodeSpans } from '../../src/language/tokens/index.ts'
import { type Span, type Stream, streamText, type TrajectoryEvent } from '../../src/schema/index.ts'
import { distillTrajectory } from '../../src/stages/distill/index.ts'
import { howMany } from '../how-many.ts'
import { ANSWER, type RandomRun, randomRun } from './random-run.ts'

const RUNS = howMany(10_000)

function holds(law: (run: RandomRun, sequence: Stream) => void, numRuns: number = RUNS): void {
  fc.assert(
    fc.property(randomRun, (run) => law(run, distillTrajectory(run.trajectory, { grammar: run.grammar }))),
    { numRuns },
  )
}

const byId = ({ trajectory }: RandomRun): Map<string, TrajectoryEvent> =>
  new Map(trajectory.events.map((event) => [event.id, event]))

const known = new WeakMap<Map<string, TrajectoryEvent>, Map<string, Set<string>>>()

/** All ancestors of an event, by parent links alone. */
function ancestors(events: Map<string, TrajectoryEvent>, id: string): Set<string> {
  const ofRun = known.get(events) ?? new Map<string, Set<string>>()
  known.set(events, ofRun)
  const found = ofRun.get(id)
  if (found !== undefined) return found
  const above = new Set<string>()
  for (let event = events.get(id); event?.parent != null; event = events.get(event.parent))
    above.add(event.parent)
  ofRun.set(id, above)
  return above
}

/** The body of a span as the parser reads it. */
function bodies({ grammar }: RandomRun, sequence: Stream): string[] {
  return parseChain(grammar, streamText(sequence)).blocks.map(({ text }) => text)
}

function wordsOf(event: TrajectoryEvent): string[] {
  switch (event.type) {
    case 'wrote':
      return [event.thought ?? '', event.said?.text ?? '']
    case 'answered':
      return [event.text]
    case 'tool-called':
      return [renderPayload(event.input as unknown as Payload)]
    default:
      return []
  }
}

describe('for every team run', () => {
  it('every observation appears exactly once, whole, after its call, and is masked', () => {
    holds((run, sequence) => {
      const events = byId(run)
      const { grammar, trajectory } = run
      const returned = trajectory.events.filter(
        (event) =>
          (event.type === 'tool-answered' || event.type === 'failed') &&
          events.get(event.parent ?? '')?.type === 'tool-called',
      )
      for (const event of returned) {
        const at = sequence.spans.findIndex((span) => eventsOf(span).includes(event.id))
        const span = sequence.spans[at]
        if (span === undefined) {
          // A call that failed and was retried at once leaves no trace.
          expect(event.type).toBe('failed')
          continue
        }
        expect(sequence.spans.filter((span) => eventsOf(span).includes(event.id))).toHaveLength(1)
        const text =
          event.type === 'tool-answered' ? event.output : event.type === 'failed' ? event.message : ''
        expect(span.text).toBe(`\n${renderStep(grammar, { agent: 'observation', text })}\n`)
        expect(span.kind).toBe('observation')
        expect(eventsOf(sequence.spans[at - 1]!)).toContain(event.parent)
      }
      const told = sequence.spans.filter(({ kind }) => kind === 'observation').flatMap(eventsOf)
      expect(new Set(told).size).toBe(told.length)
    })
  }, 300_000)

  it('the order respects causality', () => {
    holds((run, sequence) => {
      const events = byId(run)
      const seen = new Set<string>()
      for (const [index, span] of sequence.spans.entries()) {
        const { agent } = span
        const source = eventsOf(span)
        expect(source.length).toBeGreaterThan(0)
        // Facts are part of the plan made from them, after their common thought.
        const isJoint = (id: string, earlier: string): boolean => {
          const event = events.get(id)
          const isFacts = agent === 'plan' && event?.type === 'wrote' && event.said?.as === 'facts'
          return isFacts && eventsOf(sequence.spans[index - 1]!).includes(earlier)
        }
        // Nothing that depends on these events precedes them.
        for (const earlier of seen) {
          const above = ancestors(events, earlier)
          for (const id of source)
            if (above.has(id) && !isJoint(id, earlier)) expect([earlier, id]).toEqual('out of order')
        }
        for (const id of source) seen.add(id)
      }
    })
  }, 300_000)

  it('every trained sentence was written by a source event of its span', () => {
    holds((run, sequence) => {
      const events = byId(run)
      const read = bodies(run, sequence)
      for (const [index, span] of sequence.spans.entries()) {
        const { kind } = span
        const source = eventsOf(span)
        if (kind === 'observation') continue
        const words = source.flatMap((id) => wordsOf(events.get(id)!))
        const body =
          kind === 'answer'
            ? read[index]!.replace(/^\\boxed\{(.*)\}$/s, '$1').replace(/^\n```py\n(.*)\n```\n$/s, '$1')
            : read[index]!
        if (kind === 'call') expect(words).toContain(body)
        else
          for (const sentence of body.split(/(?<=\.)\s+|\n/))
            if (!words.some((text) => text.includes(sentence))) expect(words).toContain(sentence)
      }
    })
  }, 300_000)

  it('no part of the answer precedes the step that found it', () => {
    holds((run, { spans }) => {
      const events = byId(run)
      const found = (id: string): boolean =>
        run.finders.some((finder) => id === finder || ancestors(events, id).has(finder))
      const from = spans.findIndex((span) => eventsOf(span).some(found))
      const before = from === -1 ? spans : spans.slice(0, from)
      expect(before.some(({ text }) => text.includes(ANSWER))).toBe(false)
    })
  }, 300_000)

  it('the text parses into the same blocks, and a sequence without problems is well formed', () => {
    holds(({ grammar }, sequence) => {
      const chain = parseChain(grammar, streamText(sequence), { strict: true })
      expect(spansOf(chain)).toEqual(sequence.spans.map((span) => ({ ...span, origin: { events: [] } })))
      if (sequence.meta['problems'] === undefined) expect(isWellFormed(chain)).toBe(true)
    })
  }, 300_000)

  it('bad replies and failed attempts leave no trace, and no thought repeats a sentence', () => {
    holds(({ grammar }, sequence) => {
      const text = streamText(sequence)
      expect(text).not.toContain('BADMARK')
      expect(text).not.toContain('FAILMARK')
      const said = new Set<string>()
      // As parsed: a tag is escaped in a block that it could close.
      for (const { agent, text: block } of parseChain(grammar, text).blocks) {
        const found = [...block.matchAll(/Sentence number \d+[^.]* was said here\./g)].map(
          ([sentence]) => sentence,
        )
        const isOnlyRepetition = found.every((sentence) => said.has(sentence))
        // If the grammar requires a thought and nothing new is left, one is repeated; otherwise nothing is.
        if (agent === 'think' && !isOnlyRepetition)
          for (const sentence of found) if (said.has(sentence)) expect(sentence).toBe('said once')
        for (const sentence of found) said.add(sentence)
      }
    })
  }, 300_000)

  it('the same run gives the same sequence, in whatever order its events are listed', () => {
    fc.assert(
      fc.property(randomRun, fc.nat(), ({ grammar, trajectory }, seed) => {
        const sequence = distillTrajectory(trajectory, { grammar })
        expect(distillTrajectory(trajectory, { grammar })).toEqual(sequence)
        const events = trajectory.events.map((event, index) => ({
          event,
          key: Math.imul(index + 1, 2_654_435_761 ^ seed) >>> 0,
        }))
        const shuffled = events.sort((left, right) => left.key - right.key).map(({ event }) => event)
        expect(distillTrajectory({ ...trajectory, events: shuffled }, { grammar })).toEqual(sequence)
      }),
      { numRuns: RUNS },
    )
  }, 300_000)

  it('as tokens, exactly the observations are masked', () => {
    const tokenizer = byteTokenizer()
    holds((_, { spans }) => {
      const { mask } = encodeSpans(tokenizer, spans)
      const bytes = (trainable: boolean): number =>
        spans
          .filter((span) => (span.kind !== 'observation') === trainable)
          .reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
      const trained = mask.reduce((sum, bit) => sum + bit, 0)
      expect([trained, mask.length - trained]).toEqual([bytes(true), bytes(false)])
    }, 2000)
  }, 300_000)

  it('voice rules change only what roles say, and make no new number', () => {
    const talk = ['As the planner, ', 'coder reports: 7 ', 'TERMINATE\n', 'I will pass this to the critic. ']
    const speaking = (event: TrajectoryEvent, at: number): TrajectoryEvent => {
      const add = (text: string): string =>
        `${talk[at % talk.length]}${text} ${at}. ${talk[(at * 7) % talk.length]}`
      if (event.type === 'tool-answered') return { ...event, agent: 'coder', output: add(event.output) }
      if (event.type !== 'wrote' || event.said === undefined || event.said.as === 'call') return event
      const { said, thought = '' } = event
      return {
        ...event,
        agent: ['planner', 'critic'][at % 2]!,
        thought: add(thought),
        said: { ...said, text: add(said.text) },
      }
    }
    fc.assert(
      fc.property(randomRun, ({ grammar, trajectory }) => {
        const spoken = { ...trajectory, events: trajectory.events.map(speaking) }
        const on = distillTrajectory(spoken, { grammar })
        const off = distillTrajectory(spoken, { grammar, voice: { builtin: false } })
        const fixed = ({ spans }: Stream): string[] =>
          spans.flatMap(({ kind, text }) => (kind === 'role' ? [] : text.trim()))
        expect(fixed(on)).toEqual(fixed(off))
        const said = ({ spans }: Stream): string =>
          spans.flatMap(({ kind, text }) => (kind === 'role' ? text : [])).join('\n')
        const written = new Set(JSON.stringify(spoken.events).match(/\d+/g))
        expect((said(on).match(/\d+/g) ?? []).filter((number) => !written.has(number))).toEqual([])
      }),
      { numRuns: RUNS },
    )
  }, 300_000)
})

function eventsOf({ origin }: Span): string[] {
  return 'events' in origin ? origin.events : []
}
