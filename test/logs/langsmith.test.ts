import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { langsmith } from '../../src/logs/formats/langsmith.ts'
import { howMany } from '../how-many.ts'
import { forms, langChainForm, type Writing } from './langchain-form.ts'
import { pythonRepr } from './python.ts'
import {
  callsOf,
  expectRun,
  messagesOfTurn,
  promptsOf,
  readWith,
  shuffled,
  type TeamCall,
  type TeamRun,
  type TeamTurn,
  teamRun,
  trajectoryOf,
} from './team-run.ts'

interface Style {
  /** All agents see the whole conversation. */
  shared: boolean
  /** Where the agent's name is. */
  agent: 'node' | 'subgraph' | 'lc_agent_name' | 'chain'
  noise: boolean
  toolRuns: boolean
  toolInput: 'object' | 'python' | 'json' | 'call'
  toolOutput: 'text' | 'message' | 'printed'
  layout: 'rows' | 'batches' | 'nested'
  writing: Writing
}

const style: fc.Arbitrary<Style> = fc
  .record({
    shared: fc.boolean(),
    agent: fc.constantFrom('node', 'subgraph', 'lc_agent_name', 'chain'),
    noise: fc.boolean(),
    toolRuns: fc.boolean(),
    toolInput: fc.constantFrom('object', 'python', 'json', 'call'),
    toolOutput: fc.constantFrom('text', 'message', 'printed'),
    layout: fc.constantFrom('rows', 'batches', 'nested'),
    writing: fc.record({
      form: fc.constantFrom(...forms),
      thoughts: fc.constantFrom('content', 'beside'),
      calls: fc.constantFrom('tool_calls', 'content', 'both'),
      named: fc.boolean(),
      status: fc.boolean(),
    }),
  } as const)
  // Without runs of tools, their results are only in what models are sent later.
  .map((made) => ({
    ...made,
    shared: made.shared || !made.toolRuns,
    writing: { ...made.writing, status: made.writing.status || !made.toolRuns },
  }))

interface Run {
  id: string
  parent_run_id: string | null
  trace_id: string
  dotted_order: string
  name: string
  run_type: string
  start_time: string
  end_time: string
  inputs: object
  outputs: object | null
  error: string | null
  extra: { metadata: object }
}

/** Writes the runs of one trace, in the order in which they began. */
class Writer {
  readonly runs: Run[] = []
  #clock = 0
  readonly #style: Style

  constructor(how: Style) {
    this.#style = how
  }

  write({ question, turns }: TeamRun, prompts: ReturnType<typeof promptsOf>): Run[] {
    const { writing, noise } = this.#style
    const inputs = { messages: [langChainForm({ role: 'user', text: question }, 'q', writing)] }
    const root = this.#open(undefined, { name: 'LangGraph', run_type: 'chain', inputs })
    if (noise) this.#close(this.#open(root, { name: '__start__', run_type: 'chain', inputs }), inputs)
    for (const [index, turn] of turns.entries()) this.#turn(root, turn, prompts[index]!, index)
    const last = langChainForm(messagesOfTurn(turns.at(-1)!)[0]!, 'last', writing)
    this.#close(root, { messages: [...inputs.messages, last] })
    return this.runs
  }

  #turn(root: Run, turn: TeamTurn, prompt: ReturnType<typeof promptsOf>[number], index: number): void {
    const { writing, noise, agent, toolRuns } = this.#style
    const { name } = turn.agent
    const metadata = {
      ...(agent === 'node' ? { langgraph_node: name } : {}),
      ...(agent === 'subgraph'
        ? { langgraph_node: 'agent', langgraph_checkpoint_ns: `${name}:a1|agent:b2` }
        : {}),
      ...(agent === 'lc_agent_name' ? { lc_agent_name: name, langgraph_node: 'model' } : {}),
    }
    const messages = prompt.map((message, at) => langChainForm(message, `m${at}`, writing))
    const step = this.#open(root, {
      name: agent === 'chain' ? name : 'agent',
      run_type: 'chain',
      inputs: { messages },
    })
    const around = noise
      ? this.#open(step, { name: 'RunnableSequence', run_type: 'chain', inputs: { messages } })
      : step
    const model = this.#open(
      around,
      { name: 'ChatOpenAI', run_type: 'llm', inputs: { messages: [messages] } },
      metadata,
    )
    const message = langChainForm(messagesOfTurn(turn)[0]!, `run-${index}`, writing)
    const output = { generations: [[{ text: turn.text, message }]], llm_output: null }
    this.#close(model, output)
    if (noise) {
      this.#close(around, { output: message })
      this.#close(
        this.#open(step, { name: 'ChannelWrite<agent,messages>', run_type: 'chain', inputs: { messages } }),
        {},
      )
    }
    this.#close(step, { messages: [message] })
    if (!toolRuns || callsOf(turn).length === 0) return
    const tools = this.#open(root, { name: 'tools', run_type: 'chain', inputs: { messages } })
    const opened = callsOf(turn).map((call) => [call, this.#open(tools, this.#toolRun(call))] as const)
    // Parallel tools return in another order.
    for (const [call, run] of opened.reverse())
      if (call.output === undefined) this.runs.splice(this.runs.indexOf(run), 1)
      else this.#return(run, call)
    this.#close(tools, {})
  }

  #toolRun({ id, tool, input }: TeamCall): Pick<Run, 'name' | 'run_type' | 'inputs'> {
    const inputs = {
      object: input,
      python: { input: pythonRepr(input) },
      json: { input: JSON.stringify(input) },
      call: { type: 'tool_call', id, name: tool, args: input },
    }[this.#style.toolInput]
    return { name: tool, run_type: 'tool', inputs }
  }

  #return(run: Run, call: TeamCall): void {
    const output = call.output!
    const message = langChainForm({ role: 'tool', call, output }, null, {
      ...this.#style.writing,
      form: 'constructor',
      status: true,
    })
    const printed = `content=${pythonRepr(output)} name='${call.tool}' tool_call_id='${call.id}'`
    if (!call.ok && this.#style.toolOutput !== 'message') {
      run.error = output
      this.#close(run, null)
    } else this.#close(run, { output: { text: output, message, printed }[this.#style.toolOutput] })
  }

  #open(
    parent: Run | undefined,
    fields: Pick<Run, 'name' | 'run_type' | 'inputs'>,
    metadata: object = {},
  ): Run {
    const number = this.runs.length + 1 + this.#clock
    const id = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
    const time = this.#tick()
    const order = `20260101T0000${time.slice(17, 19)}${time.slice(20, 26)}Z${id}`
    const run = {
      ...fields,
      id,
      parent_run_id: parent?.id ?? null,
      trace_id: parent?.trace_id ?? id,
      dotted_order: parent === undefined ? order : `${parent.dotted_order}.${order}`,
      start_time: time,
      end_time: time,
      outputs: null,
      error: null,
      extra: { metadata },
    }
    this.runs.push(run)
    return run
  }

  #close(run: Run, outputs: object | null): void {
    run.end_time = this.#tick()
    run.outputs = outputs
  }

  /** Some microseconds later. */
  #tick(): string {
    this.#clock += 37
    return `2026-01-01T00:00:00.${String(this.#clock).padStart(6, '0')}`
  }
}

/** The records of a log with these runs, in any order. */
function recordsOf(runs: readonly Run[], { layout }: Style): fc.Arbitrary<unknown[]> {
  if (layout === 'nested') {
    const nested = (run: Run): object => ({
      ...run,
      child_runs: runs.filter(({ parent_run_id }) => parent_run_id === run.id).map(nested),
    })
    return fc.constant([nested(runs[0]!)])
  }
  if (layout === 'rows') return shuffled(runs)
  const batches = runs.flatMap(({ end_time, outputs, error, ...rest }) => [
    { post: [rest], patch: [] },
    { post: [], patch: [{ id: rest.id, dotted_order: rest.dotted_order, end_time, outputs, error }] },
  ])
  return shuffled(batches)
}

describe('LangSmith runs', () => {
  it('are read completely, each call once, by the right agent', async () => {
    const log = style.chain((how) => {
      const repeats = !how.toolRuns || how.toolInput === 'call' || how.toolOutput === 'message'
      const made = fc.boolean().chain((handsOff) => teamRun({ handsOff, repeats }))
      return made.chain((run) =>
        fc.tuple(fc.constant(run), recordsOf(new Writer(how).write(run, promptsOf(run, how.shared)), how)),
      )
    })
    await fc.assert(
      fc.asyncProperty(log, async ([made, records]) => {
        expectRun(made, await trajectoryOf(langsmith, records))
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('of several traces are kept apart, whatever the order of lines and files', async () => {
    const run = (trace: string, id: string, parent: string | null, run_type: string, fields: object) => ({
      id,
      trace_id: trace,
      parent_run_id: parent,
      run_type,
      name: id,
      start_time: '2026-01-01T00:00:00Z',
      dotted_order: `20260101T000000000000Z${trace}`,
      inputs: {},
      ...fields,
    })
    const runs = ['a', 'b'].flatMap((trace) => [
      run(trace, trace, null, 'chain', {
        inputs: { question: `Who is ${trace}?` },
        outputs: { answer: `It is ${trace}.` },
      }),
      run(trace, `${trace}-model`, trace, 'llm', {
        inputs: { messages: [{ role: 'user', content: `Who is ${trace}?` }] },
        outputs: { choices: [{ message: { role: 'assistant', content: `It is ${trace}.` } }] },
      }),
    ])
    const read = await readWith(langsmith, [runs[3], runs[0], runs[1], runs[2]])
    expect(read.map(({ id, question, answer }) => [id, question, answer])).toEqual([
      ['b', 'Who is b?', 'It is b.'],
      ['a', 'Who is a?', 'It is a.'],
    ])
  })

  it('of a thread that goes on are without what was said in earlier runs', async () => {
    const call = {
      id: 'c1',
      type: 'function',
      function: { name: 'search', arguments: '{"q":"capital of Peru"}' },
    }
    const { events, question, meta } = await trajectoryOf(langsmith, [
      {
        id: 'r1',
        name: 'assistant',
        run_type: 'llm',
        start_time: 1767225600000,
        dotted_order: '20260101T000000000000Zr1',
        inputs: {
          messages: [
            { role: 'user', content: 'What is the capital of Peru?' },
            { role: 'assistant', content: null, tool_calls: [call] },
            { role: 'tool', tool_call_id: 'c1', content: 'The capital is Lima.' },
            { role: 'assistant', content: 'It is Lima.' },
            { role: 'user', content: 'And of Chile?' },
          ],
        },
        outputs: { choices: [{ message: { role: 'assistant', content: 'Santiago.' } }] },
      },
    ])
    expect(question).toBe('And of Chile?')
    expect(events.map(({ type }) => type)).toEqual(['activated', 'wrote', 'answered'])
    expect((meta['leftOut'] as { text: string }[]).map(({ text }) => text)).toEqual([
      '{"q":"capital of Peru"}',
      'The capital is Lima.',
      'It is Lima.',
    ])
  })

  it('that failed say why, and have no answer', async () => {
    const { events, answer } = await trajectoryOf(langsmith, [
      {
        id: 'r1',
        name: 'assistant',
        run_type: 'llm',
        start_time: 1767225600000,
        dotted_order: '20260101T000000000000Zr1',
        inputs: { messages: [{ role: 'user', content: 'Hello?' }] },
        outputs: null,
        error: 'RateLimitError: too many requests',
      },
    ])
    expect(events.map(({ type }) => type)).toEqual(['activated', 'failed'])
    expect(answer).toBeUndefined()
  })
})
