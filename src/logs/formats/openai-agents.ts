import type { ChatTurn } from '../chat-turn.ts'
import type { LeftOut, LogFormat, LoggedRun, LogRecord, Unreadable } from '../contract.ts'
import { handOffTo, toolsIn, withHandOffs } from '../hand-offs.ts'
import { asText, at, isObject, listOf, parsedOr, textOf, timeOf } from '../json.ts'
import { outputText, readAgentsItems } from '../messages/agents-sdk.ts'
import { itemsOfCalls, type ModelCall } from '../model-calls.ts'
import { itemsOfSpeeches, type Speech } from '../speeches.ts'
import { type ToolRun, withToolRuns } from '../tool-runs.ts'

/**
 * Runs of the OpenAI Agents SDK: exported traces and spans, in batches or one per line, and saved run states, each of the
 * Python or the JavaScript version.
 */
export const openaiAgents: LogFormat = {
  name: 'openai-agents',
  title: 'OpenAI Agents SDK: traces with their spans, run states, items and events of streams',
  matches: (value) => isTrace(value) || isState(value) || itemsIn(value).length > 0,
  takes: isOtherEvent,
  read: readAll,
}

const isTrace = (value: unknown): boolean => /^trace(?:\.span)?$/.test(asText(at(value, 'object')))

const isState = (value: unknown): boolean =>
  isObject(value) && '$schemaVersion' in value && ('generated_items' in value || 'generatedItems' in value)

/** Items that a run has generated: a list of them, or one in an event of a stream. */
function itemsIn(value: unknown): readonly unknown[] {
  const items = Array.isArray(value) ? value : [at(value, 'item') ?? value]
  const isItem = (item: unknown): boolean =>
    /_item$/.test(asText(at(item, 'type'))) && isObject(at(item, 'raw_item') ?? at(item, 'rawItem'))
  return items.every(isItem) ? items : []
}

/** Other events of a stream, whose words come again in the items. */
function isOtherEvent(value: unknown): boolean {
  return /^(?:raw_response_event|raw_model_stream_event|agent_updated_stream_event)$/.test(
    asText(at(value, 'type')),
  )
}

async function* readAll(records: AsyncIterable<LogRecord>): AsyncGenerator<LoggedRun | Unreadable> {
  const traces = new Map<string, { where: string; values: unknown[] }>()
  const streams = new Map<string, { where: string; values: unknown[] }>()
  for await (const { value, where } of records) {
    if (isState(value)) yield readState(value, where)
    else if (Array.isArray(value) && itemsIn(value).length > 0) yield readGenerated(value, [value], [], where)
    else if (itemsIn(value).length > 0) {
      const file = where.replace(/[:#]\d+$/, '')
      const stream = streams.get(file) ?? { where, values: [] }
      streams.set(file, stream)
      stream.values.push(value)
    } else if (isTrace(value)) {
      const id = asText(at(value, 'object') === 'trace' ? at(value, 'id') : at(value, 'trace_id'))
      const trace = traces.get(id) ?? { where, values: [] }
      traces.set(id, trace)
      trace.values.push(value)
    } else if (!isOtherEvent(value))
      yield { where, problem: 'it is neither a trace nor a span nor a run state nor an item of a run' }
  }
  for (const { where, values } of streams.values())
    yield readGenerated(values.flatMap(itemsIn), values, [], where)
  for (const [id, { where, values }] of traces) yield readTrace(id, values, where)
}

interface Span {
  id: string
  parent: string
  type: string
  data: unknown
  start: number
  end: number
  error: string | undefined
}

function spanOf(value: unknown): Span {
  const data = at(value, 'span_data')
  const start = timeOf(at(value, 'started_at')) ?? 0
  return {
    id: asText(at(value, 'id')),
    parent: asText(at(value, 'parent_id')),
    type: asText(at(data, 'type')),
    data,
    start,
    end: timeOf(at(value, 'ended_at')) ?? start,
    error: textOf(at(value, 'error', 'message')),
  }
}

/** Spans come in the order in which they ended, so they are sorted by their start. */
function readTrace(id: string, values: readonly unknown[], where: string): LoggedRun | Unreadable {
  const found = values.filter((value) => at(value, 'object') === 'trace.span').map(spanOf)
  // A span may be exported twice.
  const spans = [...new Map(found.map((span) => [span.id, span])).values()].sort(
    (one, other) => one.start - other.start || other.end - one.end,
  )
  const byId = new Map(spans.map((span) => [span.id, span]))
  const agentOf = (span: Span): string => {
    for (const above of ancestorsOf(span, byId)) {
      const name = above.type === 'agent' ? at(above.data, 'name') : at(above.data, 'data', 'agent_name')
      if (typeof name === 'string') return name
    }
    return 'assistant'
  }
  const calls = spans.flatMap((span) => callOf(span, agentOf(span)))
  if (calls.every(({ messages, output }) => messages.length === 0 && output.length === 0))
    return {
      where,
      problem: 'its spans have no texts; the SDK was told not to log them, or only their ids were exported',
    }
  const tools = spans.filter(({ type }) => type === 'function')
  const callers = new Set(
    spans
      .filter(({ type }) => type === 'agent')
      .flatMap((span) => ancestorsOf(span, byId).map((above) => above.id)),
  )
  const agents = new Set(
    tools.filter((span) => callers.has(span.id)).map(({ data }) => asText(at(data, 'name'))),
  )
  const runs = tools
    .filter(({ data }) => handOffTo(asText(at(data, 'name')), undefined, null) === undefined)
    .map((span) => toolRunOf(span, agentOf(span)))
  const { items, leftOut } = withHandOffs(withToolRuns(itemsOfCalls(calls), runs), toolsIn(agents))
  const last = calls.at(-1)?.output.at(-1)
  const isAnswer = last !== undefined && last.calls.length === 0 && last.text !== ''
  return {
    where,
    id,
    source: values,
    items,
    leftOut: [...leftOut, ...namesOf(values)],
    ...(isAnswer ? { answer: last.text } : {}),
  }
}

/** The span itself and those around it, the innermost first. A broken export may have cycles. */
function ancestorsOf(span: Span, byId: ReadonlyMap<string, Span>): Span[] {
  const above: Span[] = []
  for (
    let one: Span | undefined = span;
    one !== undefined && !above.includes(one);
    one = byId.get(one.parent)
  )
    above.push(one)
  return above
}

function callOf({ type, data, start, error }: Span, agent: string): ModelCall[] {
  if (type !== 'generation' && type !== 'response') return []
  const response = at(data, 'response') ?? at(data, '_response')
  const instructions = textOf(at(response, 'instructions'))
  const system = instructions === undefined ? [] : [{ role: 'system', content: instructions }]
  return [
    {
      agent,
      messages: [
        ...readAgentsItems(system),
        ...readAgentsItems(at(data, 'input') ?? at(data, '_input') ?? []),
      ],
      output: readAgentsItems(at(data, 'output') ?? response ?? []),
      at: start,
      ...(error === undefined ? {} : { error }),
    },
  ]
}

function toolRunOf({ data, start, end, error }: Span, agent: string): ToolRun {
  const output = at(data, 'output')
  return {
    agent,
    tool: asText(at(data, 'name')),
    input: parsedOr(at(data, 'input')),
    ...(output === undefined || output === null ? {} : { output: outputText(output) }),
    ...(error === undefined ? {} : { ok: false, output: error }),
    start,
    end,
  }
}

function namesOf(values: readonly unknown[]): LeftOut[] {
  const name = values.map((value) => textOf(at(value, 'workflow_name'))).find((found) => found !== undefined)
  return name === undefined
    ? []
    : [{ at: 'workflow_name', reason: 'about the run, not part of it', text: name }]
}

/** The items of a run state, in the spelling of either version. */
function readState(state: unknown, where: string): LoggedRun {
  const lists = ['generated_items', 'generatedItems', 'session_items'].map((key) => listOf(at(state, key)))
  const generated = lists.sort((one, other) => other.length - one.length)[0]!
  const input = readAgentsItems(at(state, 'original_input') ?? at(state, 'originalInput') ?? [])
  const current = asText(at(state, 'current_agent', 'name'))
  return readGenerated(generated, [state], input, where, current)
}

function readGenerated(
  generated: readonly unknown[],
  source: readonly unknown[],
  input: readonly ChatTurn[],
  where: string,
  current = '',
): LoggedRun {
  const first = agentOfItem(generated[0]) || current || 'assistant'
  const speeches: Speech[] = [
    ...input.map(
      ({ role, ...turn }): Speech => ({
        ...turn,
        agent: first,
        ...(role === 'user' || role === 'system' ? { role } : {}),
      }),
    ),
    ...generated.flatMap(speechesOfItem),
  ]
  const { items, leftOut, answer } = itemsOfSpeeches(merged(speeches), 'generated_items')
  return { where, source, items, leftOut, ...(answer === undefined ? {} : { answer }) }
}

/** Programs that write items themselves may write the agent's name only. */
const agentOfItem = (item: unknown): string =>
  asText(
    at(item, 'agent', 'name') ??
      textOf(at(item, 'agent')) ??
      at(item, 'source_agent', 'name') ??
      at(item, 'sourceAgent', 'name'),
  )

function speechesOfItem(item: unknown): Speech[] {
  const agent = agentOfItem(item)
  const isHandOff = /^handoff_call_item$/.test(asText(at(item, 'type')))
  return readAgentsItems([at(item, 'raw_item') ?? at(item, 'rawItem')]).map(
    ({ role, calls, results, ...turn }) => ({
      ...turn,
      agent: agent === '' ? 'assistant' : agent,
      calls: calls.map((call) =>
        isHandOff && handOffTo(call.tool, undefined, call.input) === undefined
          ? { ...call, tool: `transfer_to_${call.tool}` }
          : call,
      ),
      results,
    }),
  )
}

/** A thought, the text after it and parallel calls are items of their own, but one turn of their agent. */
function merged(speeches: readonly Speech[]): Speech[] {
  const turns: Speech[] = []
  for (const speech of speeches) {
    const last = turns.at(-1)
    const { calls = [], results = [] } = speech
    const continues =
      last !== undefined &&
      last.agent === speech.agent &&
      last.role === undefined &&
      speech.role === undefined &&
      results.length === 0 &&
      (last.results ?? []).length === 0 &&
      speech.thought === undefined &&
      (speech.text === '' ? calls.length > 0 : last.text === '' && (last.calls ?? []).length === 0)
    if (continues)
      turns[turns.length - 1] = {
        ...last,
        text: last.text || speech.text,
        calls: [...(last.calls ?? []), ...calls],
      }
    else turns.push(speech)
  }
  return turns
}
