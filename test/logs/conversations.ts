import fc from 'fast-check'
import { expect } from 'vitest'
import type { LogFormat, LoggedRun, LogRecord, Unreadable } from '../../src/logs/index.ts'
import { recordsIn, toTrajectory } from '../../src/logs/index.ts'
import { Trajectory } from '../../src/schema/index.ts'
import { expectConserved } from './conserved.ts'

/** A call with the words it sends and gets; some calls have no result. */
export interface Call {
  id: string
  tool: string
  input: string
  output?: string
}

export interface Round {
  thought?: string
  /** What the model says next to its calls. */
  words?: string
  calls: Call[]
  /** The results, in the order in which they arrive. */
  results: Call[]
}

/** What happened in a run. Every text has a word that occurs nowhere else and begins with what it is. */
export interface Conversation {
  system?: string
  question: string
  rounds: Round[]
  lastThought?: string
  /** Undefined if the log was cut. */
  answer?: string
}

interface Shape {
  /** Several calls at once, with results in any order. */
  parallel?: boolean
  /** Said next to calls. */
  words?: boolean
  system?: boolean
  /** Calls without a result before the end of the log. */
  missing?: boolean
  /** Texts around the words, such as tags that are quoted. */
  noise?: { thought?: readonly string[]; output?: readonly string[]; answer?: readonly string[] }
}

/** Random conversations of at most four rounds. */
export function conversations(shape: Shape = {}): fc.Arbitrary<Conversation> {
  const { parallel = true, words = true, system = true, missing = true, noise = {} } = shape
  const around = (kind: keyof NonNullable<Shape['noise']>): fc.Arbitrary<string> =>
    fc.constantFrom('', ' more words', ...(noise[kind] ?? []))
  const call = fc.record({
    tool: fc.constantFrom('search', 'crawl_page', 'lookup'),
    isAnswered: missing ? fc.nat(9).map((n) => n > 0) : fc.constant(true),
    more: around('output'),
    place: fc.nat(99),
  })
  const round = fc.record({
    thinks: fc.boolean(),
    speaks: words ? fc.boolean() : fc.constant(false),
    more: around('thought'),
    calls: fc.array(call, { minLength: 1, maxLength: parallel ? 3 : 1 }),
  })
  const shapes = fc.record({
    system: system ? fc.boolean() : fc.constant(false),
    rounds: fc.array(round, { maxLength: 4 }),
    thinks: fc.boolean(),
    isCut: fc.nat(9).map((n) => n === 0),
    more: around('answer'),
  })
  return shapes.map((made) => {
    let count = 0
    const word = (kind: string, more = ''): string => `${kind}Word${String(++count).padStart(5, '0')}${more}`
    const rounds = made.rounds.map(({ thinks, speaks, more, calls }): Round => {
      const thought = thinks ? { thought: word('thought', more) } : {}
      const said = speaks ? { words: word('said') } : {}
      const placed = calls.map(({ tool, isAnswered, more, place }) => {
        const input = word('input')
        const output = isAnswered ? { output: input.replace('input', 'output') + more } : {}
        return { place, call: { id: `call_${count}`, tool, input, ...output } }
      })
      const inOrder = placed.toSorted((one, other) => one.place - other.place).map(({ call }) => call)
      const all = placed.map(({ call }) => call)
      return {
        ...thought,
        ...said,
        calls: all,
        results: inOrder.filter(({ output }) => output !== undefined),
      }
    })
    return {
      ...(made.system ? { system: word('system') } : {}),
      question: word('question'),
      rounds,
      ...(made.thinks ? { lastThought: word('thought') } : {}),
      ...(made.isCut ? {} : { answer: word('answer', made.more) }),
    }
  })
}

/** The runs in a value, read with the format that must recognize it. */
export async function runsIn(format: LogFormat, ...values: unknown[]): Promise<LoggedRun[]> {
  await expectConserved(format, values)
  async function* records(): AsyncGenerator<LogRecord> {
    for (const value of values) {
      const found = recordsIn({ value, where: 'test' })
      expect(found.format?.name).toBe(format.name)
      yield* found.records
    }
  }
  const runs: LoggedRun[] = []
  for await (const run of format.read(records())) {
    if (isUnreadable(run)) throw new Error(run.problem)
    runs.push(run)
  }
  return runs
}

const isUnreadable = (run: LoggedRun | Unreadable): run is Unreadable => 'problem' in run

export function trajectoryIn(run: LoggedRun, format: LogFormat): Trajectory {
  return Trajectory.parse(
    toTrajectory(run, { id: 'r', taskId: 't', team: format.name, markup: format.markup }),
  )
}

/** What a log consists of, from its events: the texts of every kind, and which output belongs to which input. */
function contentOf({ events, question, answer }: Trajectory) {
  const inputs = new Map(
    events.flatMap((event) => (event.type === 'tool-called' ? [[event.id, event] as const] : [])),
  )
  return {
    asked: [
      question,
      ...events.flatMap((event) =>
        event.type === 'activated' ? event.messages.map(({ content }) => content) : [],
      ),
    ],
    thoughts: events.flatMap((event) => (event.type === 'wrote' ? (event.thought ?? '') : [])),
    written: events.flatMap((event) => (event.type === 'wrote' ? event.text : [])),
    calls: [...inputs.values()].map(({ tool, input }) => ({ tool, input: JSON.stringify(input) })),
    answered: events.flatMap((event) => {
      if (event.type !== 'tool-answered') return []
      return { input: JSON.stringify(inputs.get(event.parent!)?.input), output: event.output }
    }),
    answer,
  }
}

/** Every word is in an event of its kind, every result is paired with its call, and nothing is left out. */
export function expectAll(
  { system, question, rounds, lastThought, answer }: Conversation,
  trajectory: Trajectory,
): void {
  const read = contentOf(trajectory)
  const has = (texts: readonly string[], text: string): void => {
    if (!texts.some((one) => one.includes(text))) expect(texts).toContain(text)
  }
  if (system !== undefined) has(read.asked, system)
  has(read.asked, question)
  for (const { thought, words, calls, results } of rounds) {
    if (thought !== undefined) has(read.thoughts, thought)
    if (words !== undefined) has(read.written, words)
    for (const { tool, input } of calls)
      if (!read.calls.some((call) => call.tool === tool && call.input.includes(input)))
        expect(read.calls).toContainEqual({ tool, input })
    for (const { input, output } of results)
      if (!read.answered.some((pair) => pair.input.includes(input) && pair.output === output))
        expect(read.answered).toContainEqual({ input, output })
  }
  expect(read.calls).toHaveLength(rounds.flatMap(({ calls }) => calls).length)
  expect(read.answered).toHaveLength(rounds.flatMap(({ results }) => results).length)
  if (answer !== undefined) {
    if (lastThought !== undefined) has(read.thoughts, lastThought)
    expect(read.answer).toBe(answer)
  } else expect(read.answer).toBeUndefined()
  // No word of a tool or of a prompt is among those that the model wrote, and none of the model's is anything else.
  for (const text of read.written) expect(text).not.toMatch(/outputWord|questionWord|systemWord/)
  for (const { output } of read.answered)
    expect(output).not.toMatch(/thoughtWord|saidWord|inputWord|answerWord/)
  expect(trajectory.meta['leftOut']).toBeUndefined()
}

/** As a log without ids must be: results in the order of their calls, none missing but the last. */
export function inOrder(conversation: Conversation): Conversation {
  const rounds = conversation.rounds.map((round): Round => {
    const missing = round.calls.findIndex(({ output }) => output === undefined)
    return { ...round, results: round.calls.slice(0, missing === -1 ? undefined : missing) }
  })
  return { ...conversation, rounds }
}

/** The same with words that no other conversation has. */
export function renamedWords(conversation: Conversation, index: number): Conversation {
  return JSON.parse(JSON.stringify(conversation).replaceAll('Word', `Word${index}x`)) as Conversation
}
