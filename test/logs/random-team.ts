import fc from 'fast-check'

/** A run of a team in which every text is unique, as the spans of an imaginary tracer. */
export interface TeamRun {
  question: string
  spans: TeamSpan[]
  /** What must be read back: who wrote what, and who called what with which result. */
  wrote: { system: string; agent: string; text: string; thought: string }[]
  called: { system: string; agent: string; tool: string; input: string; output: string | undefined }[]
  /** System prompts and tasks. */
  prompts: string[]
  answer: string | undefined
}

export interface TeamSpan {
  kind: 'agent' | 'model' | 'tool'
  id: string
  parent: string | undefined
  agent: string
  start: number
  end: number
  /** Of models and agents. */
  messages: TeamMessage[]
  output: TeamMessage | undefined
  /** Of tools. */
  call: TeamCall | undefined
}

export interface TeamMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  text: string
  thought: string
  calls: TeamCall[]
  result: TeamCall | undefined
}

export interface TeamCall {
  id: string
  tool: string
  input: string
  output: string
}

interface CallShape {
  tool: number
  again: boolean
  sub: AgentShape | undefined
}

interface AgentShape {
  name: number
  steps: { thought: boolean; words: boolean; parallel: boolean; calls: CallShape[] }[]
  /** Runs may be cut before the last model call. */
  ends: boolean
}

function agentShape(depth: number): fc.Arbitrary<AgentShape> {
  const sub =
    depth === 0 ? fc.constant(undefined) : fc.option(agentShape(depth - 1), { nil: undefined, freq: 2 })
  const call = fc.record({ tool: fc.nat(1), again: fc.boolean(), sub })
  const step = fc.record({
    thought: fc.boolean(),
    words: fc.boolean(),
    parallel: fc.boolean(),
    calls: fc.array(call, { minLength: 1, maxLength: 2 }),
  })
  return fc.record({ name: fc.nat(1), steps: fc.array(step, { maxLength: 2 }), ends: fc.boolean() })
}

/** Teams of one or two agents that share a conversation, with agents that are called as tools. */
export const teamRun = (options: { thoughts: boolean }): fc.Arbitrary<TeamRun> =>
  fc.array(agentShape(1), { minLength: 1, maxLength: 2 }).map((shapes) => new Simulation(options).run(shapes))

const message = (
  role: TeamMessage['role'],
  text: string,
  { thought = '', calls = [], result }: Partial<TeamMessage> = {},
): TeamMessage => ({ role, text, thought, calls, result })

class Simulation {
  readonly #thoughts: boolean
  readonly #result: TeamRun = {
    question: 'question-00000000',
    spans: [],
    wrote: [],
    called: [],
    prompts: [],
    answer: undefined,
  }
  readonly #systems = new Map<string, string>()
  #clock = 0
  #words = 0
  #spans = 0

  constructor({ thoughts }: { thoughts: boolean }) {
    this.#thoughts = thoughts
  }

  run(shapes: readonly AgentShape[]): TeamRun {
    const root = this.#open('agent', 'team', undefined)
    let shared: TeamMessage[] = [message('user', this.#result.question)]
    for (const [index, shape] of shapes.entries()) {
      const last = this.#agent(
        { ...shape, ends: shape.ends || index < shapes.length - 1 },
        `lead ${index}`,
        shared,
        root,
      )
      shared = last.messages
      this.#result.answer = last.answer
    }
    this.#close(root)
    root.messages = [message('user', this.#result.question)]
    if (this.#result.answer !== undefined) root.output = message('assistant', this.#result.answer)
    return this.#result
  }

  #agent(
    shape: AgentShape,
    name: string,
    task: readonly TeamMessage[],
    parent: TeamSpan,
  ): { messages: TeamMessage[]; answer: string | undefined } {
    const system = this.#systems.get(name) ?? this.#word('system')
    this.#systems.set(name, system)
    this.#result.prompts.push(system)
    const span = this.#open('agent', name, parent)
    const messages: TeamMessage[] = [message('system', system), ...task]
    span.messages = [...messages]
    let before: { tool: string; input: string } | undefined
    for (const { thought, words, parallel, calls } of shape.steps) {
      const made = calls.map(({ tool, again, sub }) => {
        const fresh = {
          tool: sub === undefined ? `tool_${tool}` : `ask_helper_${sub.name}`,
          input: this.#word('input'),
        }
        const repeated = again && sub === undefined && before !== undefined ? before : fresh
        if (sub === undefined) before = repeated
        return {
          call: {
            ...repeated,
            id: `call_${String(++this.#words).padStart(20, '0')}`,
            output: this.#word('output'),
          },
          sub,
        }
      })
      const turn = message('assistant', words ? this.#word('words') : '', {
        thought: thought && this.#thoughts ? this.#word('thought') : '',
        calls: made.map(({ call }) => call),
      })
      this.#model(name, system, messages, turn, span)
      const open: TeamSpan[] = []
      for (const { call, sub } of made) {
        const tool = this.#open('tool', name, span)
        tool.call = call
        if (sub !== undefined) {
          this.#result.prompts.push(call.input)
          const asked = [message('user', call.input)]
          const { answer } = this.#agent({ ...sub, ends: true }, `helper ${sub.name}`, asked, tool)
          call.output = answer!
        }
        this.#result.called.push({
          system,
          agent: name,
          tool: call.tool,
          input: call.input,
          output: call.output,
        })
        open.push(tool)
        if (!parallel) this.#close(tool)
      }
      if (parallel) for (const tool of open.reverse()) this.#close(tool)
      messages.push(turn, ...made.map(({ call }) => message('tool', '', { result: call })))
    }
    let answer: string | undefined
    if (shape.ends || shape.steps.length === 0) {
      answer = this.#word('answer')
      const turn = message('assistant', answer)
      this.#model(name, system, messages, turn, span)
      messages.push(turn)
      span.output = turn
    }
    this.#close(span)
    return { messages: messages.slice(1), answer }
  }

  #model(
    agent: string,
    system: string,
    messages: readonly TeamMessage[],
    output: TeamMessage,
    parent: TeamSpan,
  ): void {
    const span = this.#open('model', agent, parent)
    span.messages = [...messages]
    span.output = output
    this.#close(span)
    this.#result.wrote.push({ system, agent, text: output.text, thought: output.thought })
  }

  #open(kind: TeamSpan['kind'], agent: string, parent: TeamSpan | undefined): TeamSpan {
    const id = (++this.#spans).toString(16).padStart(16, '0')
    const span: TeamSpan = {
      ...{ kind, id, parent: parent?.id, agent, start: ++this.#clock, end: 0 },
      ...{ messages: [], output: undefined, call: undefined },
    }
    this.#result.spans.push(span)
    return span
  }

  #close(span: TeamSpan): void {
    span.end = ++this.#clock
  }

  #word(kind: string): string {
    return `${kind}-${String(++this.#words).padStart(8, '0')}`
  }
}
