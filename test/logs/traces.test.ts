import { expect, test } from 'vitest'
import { logFormats } from '../../src/logs/formats/index.ts'
import { otlp } from '../../src/logs/formats/otlp.ts'
import { type LoggedRun, recordsIn, toTrajectory, type Unreadable } from '../../src/logs/index.ts'

/** Small traces made by hand, for what random teams do not have. */
interface Made {
  id: string
  parent?: string
  trace?: string
  name?: string
  attributes?: Record<string, unknown>
  events?: { name: string; attributes: Record<string, unknown> }[]
  /** Where it begins and ends; by default, after the one before. */
  at?: [number, number]
  error?: string
  dropped?: number
}

const spans = (made: readonly Made[]): unknown[] =>
  made.map(
    (
      { id, parent, trace = 'aa', name = 'span', attributes = {}, events = [], at, error, dropped },
      index,
    ) => {
      const [start, end] = at ?? [index * 10, index * 10 + 5]
      return {
        traceId: trace.padStart(32, '0'),
        spanId: id.padStart(16, '0'),
        ...(parent === undefined ? {} : { parentSpanId: parent.padStart(16, '0') }),
        name,
        startTimeUnixNano: `17310000000000${String(start).padStart(5, '0')}`,
        endTimeUnixNano: `17310000000000${String(end).padStart(5, '0')}`,
        attributes,
        events,
        status: error === undefined ? { code: 0 } : { code: 2, message: error },
        droppedAttributesCount: dropped ?? 0,
      }
    },
  )

async function read(values: readonly unknown[]): Promise<{ runs: LoggedRun[]; problems: Unreadable[] }> {
  async function* records() {
    for (const value of values) yield* recordsIn({ value, where: 'log' }).records
  }
  const runs: LoggedRun[] = []
  const problems: Unreadable[] = []
  for await (const one of otlp.read(records())) 'problem' in one ? problems.push(one) : runs.push(one)
  return { runs, problems }
}

const said = (text: string): string =>
  JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: text }] }])
const asked = (text: string): string =>
  JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: text }] }])
const chat = (input: string, output: string): Record<string, unknown> => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.input.messages': asked(input),
  'gen_ai.output.messages': said(output),
})
const agent = (name: string): Record<string, unknown> => ({
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.agent.name': name,
})
const short = ({ items }: LoggedRun): string[] =>
  items.map((item) => {
    const text =
      item.type === 'prompted'
        ? item.messages.map(({ content }) => content).join('|')
        : 'output' in item
          ? item.output
          : 'input' in item
            ? JSON.stringify(item.input)
            : 'text' in item
              ? item.text
              : item.message
    return `${item.agent} ${item.type} ${text}`
  })

test.each([
  [
    'OpenTelemetry',
    { 'gen_ai.operation.name': 'chat' },
    'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT',
  ],
  ['OpenLLMetry', { 'llm.request.type': 'chat' }, 'TRACELOOP_TRACE_CONTENT'],
  ['OpenInference', { 'openinference.span.kind': 'LLM' }, 'OPENINFERENCE_HIDE_INPUTS'],
  [
    'OpenInference, redacted',
    {
      'openinference.span.kind': 'LLM',
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.content': '__REDACTED__',
    },
    'OPENINFERENCE_HIDE_INPUTS',
  ],
  ['AI SDK', { 'ai.operationId': 'ai.generateText.doGenerate' }, 'recordOutputs'],
])('a trace of %s without content is no empty run', async (_name, attributes, hint) => {
  const { runs, problems } = await read(spans([{ id: '1', attributes }]))
  expect(runs).toEqual([])
  expect(problems).toHaveLength(1)
  expect(problems[0]!.problem).toContain(hint)
})

test('one model call without its output is reported, and the rest is read', async () => {
  const { runs, problems } = await read(
    spans([
      { id: '1', attributes: chat('the question', 'the answer') },
      { id: '2', attributes: { 'gen_ai.operation.name': 'chat' } },
    ]),
  )
  expect(runs.map(short)).toEqual([
    ['assistant prompted the question', 'assistant wrote the answer', 'assistant answered the answer'],
  ])
  expect(problems[0]!.problem).toMatch(/some model calls have no output/)
})

test('dropped attributes of a model call are reported', async () => {
  const { runs, problems } = await read(spans([{ id: '1', attributes: chat('q', 'a'), dropped: 3 }]))
  expect(runs).toHaveLength(1)
  expect(problems[0]!.problem).toContain('OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT')
})

test('indexed messages that lost some are read from the whole request', async () => {
  const request = {
    messages: [
      { role: 'system', content: 'rules' },
      { role: 'user', content: 'question' },
    ],
  }
  const attributes = {
    'openinference.span.kind': 'LLM',
    'llm.input_messages.1.message.role': 'user',
    'llm.input_messages.1.message.content': 'question',
    'input.value': JSON.stringify(request),
    'output.value': JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'answer' } }] }),
  }
  const { runs } = await read(spans([{ id: '1', attributes, dropped: 2 }]))
  expect(short(runs[0]!).slice(0, 2)).toEqual(['assistant prompted rules|question', 'assistant wrote answer'])
})

test('a trace of a web server is reported as one without agents', async () => {
  const { runs, problems } = await read(
    spans([{ id: '1', name: 'GET /', attributes: { 'http.method': 'GET' } }]),
  )
  expect(runs).toEqual([])
  expect(problems.map(({ problem }) => problem)).toEqual(['traces without spans of models or agents: 1'])
})

test('traces whose spans are mixed in one file stay apart', async () => {
  const made = ['1', '2', '3', '4'].map(
    (id, index): Made => ({
      id,
      trace: index % 2 === 0 ? 'aa' : 'bb',
      attributes: chat(`q${index}`, `a${index}`),
    }),
  )
  const { runs } = await read(spans(made))
  expect(runs.map(({ id, answer: _, ...run }) => [id?.slice(-2), ...short({ ...run }).slice(0, 4)])).toEqual([
    ['aa', 'assistant prompted q0', 'assistant wrote a0', 'assistant prompted q2', 'assistant wrote a2'],
    ['bb', 'assistant prompted q1', 'assistant wrote a1', 'assistant prompted q3', 'assistant wrote a3'],
  ])
})

test('traces of one conversation that repeats itself are one run, independent ones are not', async () => {
  const turn = (id: string, trace: string, messages: unknown, output: string): Made => ({
    id,
    trace,
    attributes: {
      ...chat('', output),
      'gen_ai.conversation.id': 'conversation-1',
      'gen_ai.input.messages': JSON.stringify(messages),
    },
  })
  const part = (role: string, content: string) => ({ role, parts: [{ type: 'text', content }] })
  const first = [part('user', 'first')]
  const second = [...first, part('assistant', 'one'), part('user', 'second')]
  const { runs } = await read(
    spans([
      turn('1', 'aa', first, 'one'),
      turn('2', 'bb', second, 'two'),
      turn('3', 'cc', [part('user', 'other')], 'three'),
    ]),
  )
  expect(runs.map(short)).toEqual([
    [
      'assistant prompted first',
      'assistant wrote one',
      'assistant prompted second',
      'assistant wrote two',
      'assistant answered two',
    ],
    ['assistant prompted other', 'assistant wrote three', 'assistant answered three'],
  ])
})

test('what was written before the trace began is part of the prompt', async () => {
  const before = [
    { role: 'user', parts: [{ type: 'text', content: 'earlier question' }] },
    { role: 'assistant', parts: [{ type: 'tool_call', id: 'c0', name: 'look', arguments: { at: 'this' } }] },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c0', response: 'seen' }] },
    { role: 'assistant', parts: [{ type: 'text', content: 'earlier answer' }] },
    { role: 'user', parts: [{ type: 'text', content: 'question' }] },
  ]
  const attributes = { ...chat('', 'answer'), 'gen_ai.input.messages': JSON.stringify(before) }
  const { runs } = await read(spans([{ id: '1', attributes }]))
  expect(runs[0]!.question).toBe('question')
  expect(runs[0]!.items.map(({ type }) => type)).toEqual(['prompted', 'wrote', 'answered'])
  expect(runs[0]!.items[0]).toMatchObject({
    messages: [
      { role: 'user', content: 'earlier question' },
      { role: 'assistant', content: '{"name":"look","arguments":{"at":"this"}}' },
      { role: 'tool', content: 'seen' },
      { role: 'assistant', content: 'earlier answer' },
      { role: 'user', content: 'question' },
    ],
  })
})

test('messages in log records are read without their spans', async () => {
  const record = (event: string, body: unknown, time: number) => ({
    timeUnixNano: `173100000000000000${time}`,
    eventName: event,
    body,
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
  })
  const logRecords = [
    record('gen_ai.choice', { index: 0, message: { role: 'assistant', content: 'answer' } }, 2),
    record('gen_ai.user.message', { content: 'question' }, 1),
  ]
  const { runs } = await read([{ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }])
  expect(runs.map(short)).toEqual([
    ['assistant prompted question', 'assistant wrote answer', 'assistant answered answer'],
  ])
})

test('an agent whose model calls were not traced is read from its own span', async () => {
  const input = {
    ...agent('writer'),
    'gen_ai.input.messages': asked('write'),
    'gen_ai.output.messages': said('done'),
  }
  const { runs } = await read(
    spans([
      { id: '1', attributes: input, at: [0, 90] },
      {
        id: '2',
        parent: '1',
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'look',
          'gen_ai.tool.call.arguments': '{"at":"it"}',
          'gen_ai.tool.call.result': 'seen',
        },
      },
    ]),
  )
  expect(runs.map(short)).toEqual([
    [
      'writer prompted write',
      'writer called {"at":"it"}',
      'writer returned seen',
      'writer wrote done',
      'writer answered done',
    ],
  ])
})

test('hand-offs are messages, also those that a model asked for with a call', async () => {
  const handoff = { 'openinference.span.kind': 'TOOL', 'tool.name': 'handoff_to_solver' }
  const team = (output: unknown): Made[] => [
    { id: '1', attributes: agent('planner'), at: [0, 30] },
    {
      id: '2',
      parent: '1',
      attributes: { ...chat('question', 'x'), 'gen_ai.output.messages': JSON.stringify([output]) },
      at: [1, 2],
    },
    { id: '3', parent: '1', name: 'handoff to solver', attributes: handoff, at: [3, 4] },
    { id: '4', attributes: agent('solver'), at: [31, 50] },
    { id: '5', parent: '4', attributes: chat('question', 'solved'), at: [32, 33] },
  ]
  const words = await read(spans(team({ role: 'assistant', parts: [{ type: 'text', content: 'plan' }] })))
  expect(words.runs.map(short)).toEqual([
    [
      'planner prompted question',
      'planner wrote plan',
      'planner sent ',
      'solver prompted question',
      'solver wrote solved',
      'solver answered solved',
    ],
  ])
  const call = { type: 'tool_call', id: 'c1', name: 'transfer_to_solver', arguments: {} }
  const called = await read(spans(team({ role: 'assistant', parts: [call] })))
  expect(called.runs.map(short)).toEqual([
    [
      'planner prompted question',
      'planner wrote ',
      'planner sent ',
      'solver prompted question',
      'solver wrote solved',
      'solver answered solved',
    ],
  ])
})

test('failures of tools and models are kept', async () => {
  const { runs } = await read(
    spans([
      {
        id: '1',
        attributes: {
          ...chat('question', ''),
          'gen_ai.output.messages': JSON.stringify([
            { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'look', arguments: {} }] },
          ]),
        },
      },
      {
        id: '2',
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'look',
          'gen_ai.tool.call.id': 'c1',
        },
        error: 'not there',
      },
      { id: '3', attributes: { 'gen_ai.operation.name': 'chat' }, error: 'too many requests' },
    ]),
  )
  const { events } = toTrajectory(runs[0]!, { id: 'run', taskId: 'task', team: 'otlp' })
  expect(events.find(({ type }) => type === 'tool-answered')).toMatchObject({
    output: 'not there',
    ok: false,
  })
  expect(events.find(({ type }) => type === 'failed')).toMatchObject({ message: 'too many requests' })
})

test('what nobody reads is left out, with where it was', async () => {
  const attributes = { ...chat('question', 'answer'), 'app.note': 'remarks about applications' }
  const { runs } = await read(spans([{ id: '1', attributes }]))
  const { meta } = toTrajectory(runs[0]!, { id: 'run', taskId: 'task', team: 'otlp' })
  expect(meta['leftOut']).toMatchObject([{ at: 'attributes.app.note', text: 'remarks about applications' }])
})

test.each([
  ['otlp', { resourceSpans: [] }],
  ['otlp', { resourceLogs: [] }],
  ['mlflow', { info: {}, data: { spans: [{ attributes: { 'mlflow.spanType': '"LLM"' } }] } }],
  [
    'openinference',
    { name: 'x', context: { trace_id: 'a', span_id: 'b' }, span_kind: 'LLM', attributes: {} },
  ],
  ['openai-chat', { messages: [{ role: 'user', content: 'spans' }] }],
])('%s is recognized', (name, value) => {
  expect(logFormats.find((format) => format.matches(value))?.name).toBe(name)
})
