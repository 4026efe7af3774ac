import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { langfuse } from '../../src/logs/formats/langfuse.ts'
import { howMany } from '../how-many.ts'
import { answerIn, type Dialect, dialects, openAi, openInference, promptIn } from './langfuse-form.ts'
import { pythonRepr } from './python.ts'
import {
  callsOf,
  expectRun,
  messagesOfTurn,
  promptsOf,
  readWith,
  shuffled,
  type TeamCall,
  type TeamMessage,
  type TeamRun,
  type TeamTurn,
  teamRun,
  trajectoryOf,
} from './team-run.ts'

interface Style {
  /** All agents see the whole conversation. */
  shared: boolean
  dialect: Dialect
  encoding: 'value' | 'json' | 'python' | 'otel attributes' | 'openinference attributes'
  /** With the offered tools next to the messages. */
  wrapped: boolean
  /** Older traces know only spans, events and generations. */
  old: boolean
  /** Where the agent's name is. */
  agent: 'around' | 'attribute' | 'langgraph'
  /** A call that a second integration saw too. */
  twice: 'no' | 'around' | 'beside'
  toolIds: boolean
  layout: 'download' | 'response' | 'rows'
}

const style: fc.Arbitrary<Style> = fc.record({
  shared: fc.boolean(),
  dialect: fc.constantFrom(...dialects),
  encoding: fc.constantFrom('value', 'json', 'python', 'otel attributes', 'openinference attributes'),
  wrapped: fc.boolean(),
  old: fc.boolean(),
  agent: fc.constantFrom('around', 'attribute', 'langgraph'),
  twice: fc.constantFrom('no', 'around', 'beside'),
  toolIds: fc.boolean(),
  layout: fc.constantFrom('download', 'response', 'rows'),
} as const)

interface Observation {
  id: string
  traceId: string
  parentObservationId: string | null
  type: string
  name: string
  startTime: string
  endTime: string
  input: unknown
  output: unknown
  metadata: object
  level: string
  statusMessage: string | null
}

type Fields = Partial<Pick<Observation, 'input' | 'output' | 'metadata' | 'level' | 'statusMessage'>>

/** Writes the observations of one trace. */
class Writer {
  readonly observations: Observation[] = []
  #clock = 0
  readonly #style: Style

  constructor(how: Style) {
    this.#style = how
  }

  write({ question, turns }: TeamRun, prompts: readonly TeamMessage[][]): Observation[] {
    const input = this.#written({ question })
    const root = this.#open(null, 'SPAN', 'my-app', { input })
    for (const [index, turn] of turns.entries()) this.#turn(root, turn, prompts[index]!)
    this.#close(root, { output: this.#written({ answer: turns.at(-1)!.text }) })
    return this.observations
  }

  #turn(root: Observation, turn: TeamTurn, prompt: readonly TeamMessage[]): void {
    const { agent, old, twice } = this.#style
    const around = agent === 'around' ? this.#open(root, old ? 'SPAN' : 'AGENT', turn.agent.name, {}) : root
    const fields = this.#modelFields(turn, prompt)
    const outer =
      twice === 'around' ? this.#open(around, 'GENERATION', 'framework.chat', fields.asked) : around
    const model = this.#open(outer, 'GENERATION', 'ChatOpenAI', fields.asked)
    if (twice === 'beside') {
      const other = this.#open(around, 'GENERATION', 'openai.chat', fields.asked)
      this.#close(other, fields.answered)
    }
    this.#close(model, fields.answered)
    // The outer one sees less of the answer.
    if (twice === 'around') this.#close(outer, { output: turn.text })
    const opened = callsOf(turn)
      .filter(({ output }) => output !== undefined)
      .map((call) => [call, this.#tool(around, turn, call)] as const)
    // Parallel tools return in another order.
    for (const [call, run] of opened.reverse()) {
      const failed = call.ok ? {} : { level: 'ERROR', statusMessage: call.output! }
      this.#close(run, { output: call.ok ? call.output : null, ...failed })
    }
    if (around !== root) this.#close(around, {})
  }

  #modelFields(turn: TeamTurn, prompt: readonly TeamMessage[]): { asked: Fields; answered: Fields } {
    const { dialect, encoding, wrapped } = this.#style
    const named = this.#metadata(turn)
    if (encoding === 'otel attributes' || encoding === 'openinference attributes') {
      const own = messagesOfTurn(turn).slice(0, 1)
      const attributes =
        encoding === 'otel attributes'
          ? {
              'gen_ai.input.messages': JSON.stringify(promptIn('otel', prompt)),
              'gen_ai.output.messages': JSON.stringify(answerIn('otel', turn)),
            }
          : { ...openInference('llm.input_messages', prompt), ...openInference('llm.output_messages', own) }
      const metadata = { ...named, attributes: { ...named.attributes, ...attributes } }
      return { asked: { input: null, metadata }, answered: { output: null } }
    }
    const messages = promptIn(dialect, prompt)
    const input = wrapped ? { messages, tools: [] } : messages
    return {
      asked: { input: this.#written(input), metadata: named },
      answered: { output: this.#written(answerIn(dialect, turn)) },
    }
  }

  #metadata({ agent: { name } }: TeamTurn): { attributes?: object; langgraph_node?: string } {
    const { agent } = this.#style
    if (agent === 'attribute') return { attributes: { 'gen_ai.agent.name': name } }
    return agent === 'langgraph' ? { langgraph_node: name } : {}
  }

  #tool(around: Observation, turn: TeamTurn, { id, tool, input }: TeamCall): Observation {
    const { old, toolIds } = this.#style
    const named = this.#metadata(turn)
    const attributes = { ...named.attributes, ...(toolIds ? { 'gen_ai.tool.call.id': id } : {}) }
    return this.#open(around, old ? 'SPAN' : 'TOOL', tool, {
      input: this.#written(input),
      metadata: { ...named, attributes },
    })
  }

  #written(value: unknown): unknown {
    const { encoding } = this.#style
    return encoding === 'json' ? JSON.stringify(value) : encoding === 'python' ? pythonRepr(value) : value
  }

  #open(parent: Observation | null, type: string, name: string, fields: Fields): Observation {
    const time = this.#tick()
    const observation = {
      id: `observation-${this.observations.length}`,
      traceId: 'trace-1',
      parentObservationId: parent?.id ?? null,
      type,
      name,
      startTime: time,
      endTime: time,
      input: null,
      output: null,
      metadata: {},
      level: 'DEFAULT',
      statusMessage: null,
      ...fields,
    }
    this.observations.push(observation)
    return observation
  }

  #close(observation: Observation, fields: Fields): void {
    Object.assign(observation, fields, { endTime: this.#tick() })
  }

  #tick(): string {
    return new Date(Date.UTC(2026, 0, 1) + this.#clock++).toISOString()
  }
}

/** The records of a log with these observations, in any order. */
function recordsOf(observations: readonly Observation[], { layout }: Style): fc.Arbitrary<unknown[]> {
  return shuffled(observations).map((rows) => {
    const { input, output } = observations[0]!
    const trace = { id: 'trace-1', timestamp: '2026-01-01T00:00:00.000Z', name: 'my-app', input, output }
    if (layout === 'download') return [{ trace, observations: rows }]
    return layout === 'response' ? [{ ...trace, observations: rows }] : rows
  })
}

describe('Langfuse traces', () => {
  it('are read completely, each call once, by the right agent', async () => {
    const log = style.chain((how) =>
      fc
        .boolean()
        .chain((handsOff) => teamRun({ handsOff, repeats: how.toolIds }))
        .chain((run) =>
          fc.tuple(
            fc.constant(run),
            fc.constant({ thoughts: how.encoding !== 'openinference attributes' }),
            recordsOf(new Writer(how).write(run, promptsOf(run, how.shared)), how),
          ),
        ),
    )
    await fc.assert(
      fc.asyncProperty(log, async ([made, expected, records]) => {
        expectRun(made, await trajectoryOf(langfuse, records), expected)
      }),
      { numRuns: howMany(10_000) },
    )
  })

  const generation = (id: string, fields: object): object => ({
    id,
    traceId: 'trace-1',
    type: 'GENERATION',
    name: 'chat',
    startTime: `2026-01-01T00:00:0${id}.000Z`,
    ...fields,
  })

  it('of agents without names are told apart by their system prompts', async () => {
    const ask = (system: string, text: string): object[] =>
      [
        { role: 'system' as const, text: system },
        { role: 'user' as const, text },
      ].map(openAi)
    const { events } = await trajectoryOf(langfuse, [
      generation('1', { input: ask('You write.', 'Write a line.'), output: 'A line.' }),
      generation('2', { input: ask('You review.', 'Is it good?'), output: 'It is.' }),
      generation('3', { input: ask('You write.', 'Another one.'), output: 'Another line.' }),
    ])
    const writers = events.flatMap((event) => (event.type === 'wrote' ? event.agent : []))
    expect(writers).toEqual(['assistant', 'assistant-2', 'assistant'])
  })

  it('that list offered tools as messages keep them out of the conversation', async () => {
    const definition = {
      type: 'function',
      function: { name: 'search', description: 'Searches the web.', parameters: {} },
    }
    const [run] = await readWith(langfuse, [
      generation('1', {
        input: [
          { role: 'user', content: 'Who?' },
          { role: 'tool', content: definition },
        ],
        output: { role: 'assistant', content: 'Me.' },
      }),
    ])
    expect(run!.tools).toMatchObject([{ name: 'search', description: 'Searches the web.' }])
    expect(run!.items.map(({ type }) => type)).toEqual(['prompted', 'wrote'])
  })

  it('whose results have the role of their tool are paired', async () => {
    const call = {
      id: 'c1',
      type: 'function',
      function: { name: 'get_weather', arguments: '{"city":"Oslo"}' },
    }
    const question = { role: 'user', content: 'How is the weather in Oslo?' }
    const asked = { role: 'assistant', content: '', tool_calls: [call] }
    const { events } = await trajectoryOf(langfuse, [
      generation('1', { input: JSON.stringify([question]), output: JSON.stringify(asked) }),
      generation('2', {
        input: JSON.stringify([question, asked, { role: 'get_weather', content: 'Sunny, as always.' }]),
        output: JSON.stringify({ role: 'assistant', content: 'It is sunny.' }),
      }),
    ])
    expect(events.map(({ type }) => type)).toEqual([
      'activated',
      'wrote',
      'tool-called',
      'tool-answered',
      'wrote',
      'answered',
    ])
  })

  it('as one text of roles and words are conversations', async () => {
    const { events, question } = await trajectoryOf(langfuse, [
      generation('1', { input: 'system: Be brief.\nuser: Say hello.', output: 'Hello.' }),
    ])
    expect(question).toBe('Say hello.')
    expect(events[0]).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Say hello.' },
      ],
    })
  })
})
