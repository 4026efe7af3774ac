import fc from 'fast-check'
import { expect, it } from 'vitest'
import { extendGrammar, type Grammar } from '../../src/language/grammar/index.ts'
import { Contribution, streamText, type Trajectory, type TrajectoryEvent } from '../../src/schema/index.ts'
import { distillTrajectory } from '../../src/stages/distill/index.ts'
import { grammarsWithEveryPayload } from '../grammar/visual-inspector.ts'

type Part = 'thought' | 'words' | 'text' | 'all'

/** Where each word of a trajectory was said; every word occurs once. */
type Said = Map<string, { event: string; parts: Part[] }>

interface Written {
  grammar: Grammar
  trajectory: Trajectory
  said: Said
}

const tool = { name: 'lookup', description: 'Look it up.', payload: { syntax: 'text' } } as const
const grammars = grammarsWithEveryPayload.map((grammar) => extendGrammar(grammar, [tool]))
const kinds = [
  'wrote',
  'wrote',
  'wrote',
  'tool-called',
  'tool-answered',
  'tool-answered',
  'failed',
  'sent',
  'answered',
] as const

/** Events of any kind with any cause, as a careless recorder or a broken log may have them. */
class Recording {
  readonly events: TrajectoryEvent[] = []
  readonly said: Said = new Map()
  readonly #choices: readonly number[]
  #at = 0
  #word = 0

  constructor(choices: readonly number[]) {
    this.#choices = choices
  }

  pick(count: number): number {
    const choice = this.#choices[this.#at++ % this.#choices.length]!
    return (choice + Math.floor(this.#at / this.#choices.length) * 7) % count
  }

  words(event: string, ...parts: Part[]): string {
    const words = Array.from({ length: 1 + this.pick(4) }, () => `word${++this.#word}x`)
    for (const word of words) this.said.set(word, { event, parts: [...parts, 'all'] })
    return `${words.join(this.pick(4) === 0 ? '.\n' : ' ')}.`
  }

  add(kind: (typeof kinds)[number] | 'activated'): void {
    const id = `e${this.events.length + 1}`
    const candidates = this.events.filter(
      ({ type }) =>
        this.pick(5) === 0 || type === 'wrote' || (kind === 'tool-answered' && type === 'tool-called'),
    )
    const wanted =
      kind === 'tool-answered' ? this.events.filter(({ type }) => type === 'tool-called') : candidates
    const from = this.pick(6) === 0 || wanted.length === 0 ? this.events : wanted
    const parent = from.length === 0 ? null : from[from.length - 1 - this.pick(Math.min(3, from.length))]!.id
    const base = { id, parent, t: this.events.length, agent: ['planner', 'solver', 'critic'][this.pick(3)]! }
    switch (kind) {
      case 'activated':
        this.events.push({ ...base, type: kind, messages: [] })
        return
      case 'wrote':
        this.events.push({ ...base, type: kind, ...this.reply(id) })
        return
      case 'tool-called':
        this.events.push({
          ...base,
          type: kind,
          tool: ['lookup', 'code', 'unheard_of'][this.pick(3)]!,
          input: 'x',
        })
        return
      case 'tool-answered':
        this.events.push({ ...base, type: kind, tool: 'lookup', output: this.words(id), ok: true })
        return
      case 'failed':
        this.events.push({ ...base, type: kind, boundary: 'tool', message: 'broken' })
        return
      case 'sent':
        this.events.push({ ...base, type: kind, to: 'solver', text: 'go on' })
        return
      case 'answered':
        this.events.push({ ...base, type: kind, text: this.words(id, 'words') })
    }
  }

  reply(id: string): Pick<Extract<TrajectoryEvent, { type: 'wrote' }>, 'text' | 'thought' | 'said'> {
    const kind = this.pick(5)
    if (kind === 0) return { text: this.words(id, 'thought', 'words') }
    const isSilent = this.pick(8) === 0
    // A thought takes the place of words that are missing.
    const thought = kind === 1 ? '' : this.words(id, 'thought', ...(isSilent ? (['words'] as const) : []))
    // Without a purpose, what is beside the thought may be the answer.
    const beside =
      this.pick(2) === 0 ? this.words(id, 'text', ...(kind === 2 ? (['words'] as const) : [])) : ''
    if (kind === 2) return { text: `<think>${thought}</think>${beside}`, thought }
    const as = Contribution.options[this.pick(Contribution.options.length)]!
    const said = { as, text: isSilent ? '' : this.words(id, 'words') }
    const whole = this.pick(3) === 0 ? '' : `<think>${thought}</think>\n<${as} for="a">${said.text}</${as}>`
    return { text: `${whole}${beside}`, ...(thought === '' ? {} : { thought }), said }
  }
}

const written: fc.Arbitrary<Written> = fc
  .tuple(fc.constantFrom(...grammars), fc.array(fc.nat(997), { minLength: 12, maxLength: 40 }), fc.nat(24))
  .map(([grammar, choices, length]) => {
    const recording = new Recording(choices)
    recording.add('activated')
    for (let count = 0; count < length; count++) recording.add(kinds[recording.pick(kinds.length)]!)
    if (recording.pick(3) > 0) recording.add('answered')
    const { events, said } = recording
    const trajectory: Trajectory = {
      v: 1,
      id: 'run',
      taskId: 'task',
      team: 'any',
      question: 'What is it?',
      events,
      meta: { leftOut: [{ at: 'history[0].role', reason: 'not read by this format', text: 'of the log' }] },
    }
    return { grammar, trajectory, said, [fc.toStringMethod]: () => JSON.stringify(events, null, 1) }
  })

it('every word is in a span, or what says it is left out with a reason', () => {
  const maps = [
    new Map(),
    new Map([['critic', 'drop']]),
    new Map([['report', 'plan']]),
    new Map([['lookup', 'drop']]),
  ]
  fc.assert(
    fc.property(
      written,
      fc.constantFrom(...maps),
      fc.boolean(),
      fc.boolean(),
      ({ grammar, trajectory, said }, map, thoughts, quotes) => {
        const sequence = distillTrajectory(trajectory, { grammar, map, thoughts, quotes })
        const text = streamText(sequence)
        const leftOut = sequence.meta['leftOut'] as { event?: string; part: Part; reason: string }[]
        expect(leftOut[0]).toMatchObject({ at: 'history[0].role' })
        for (const [word, { event, parts }] of said) {
          if (text.includes(word)) continue
          const notes = leftOut.filter((note) => note.event === event && parts.includes(note.part))
          if (notes.length === 0 || notes.some(({ reason }) => reason === ''))
            expect([word, event, leftOut]).toBe('accounted for')
        }
      },
    ),
    { numRuns: 10_000 },
  )
}, 120_000)
