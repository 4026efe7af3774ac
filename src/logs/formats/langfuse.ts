import { langChainAgent, mayBeAgent } from '../agent-names.ts'
import { answeredIn, folded, instructionsIn, sentIn } from '../attributes.ts'
import type { ChatTurn } from '../chat-turn.ts'
import type { LogFormat, LoggedRun, LogRecord, Unreadable } from '../contract.ts'
import { asText, at, type JsonObject, listOf, objectOf, textOf } from '../json.ts'
import { parsedText, turnsIn } from '../messages/any-dialect.ts'
import { toolsOf } from '../record-head.ts'
import { toolName } from '../tool-names.ts'
import { itemsOfSteps, type ModelStep, type ToolStep } from '../trace-steps.ts'
import {
  answerIn,
  definitionIn,
  isDefinition,
  lastWords,
  preciseTime,
  questionIn,
  toolInput,
  toolOutput,
} from '../trace-values.ts'

/** Traces of Langfuse: downloads from its interface, what its API returns, and rows of observations. */
export const langfuse: LogFormat = {
  name: 'langfuse',
  title: 'Langfuse traces: downloads, API responses and exported observations',
  matches: (value) => {
    const found = listOf(at(value, 'observations'))
    return found.length > 0 ? isObservation(found[0]) : isObservation(value)
  },
  read,
  // Roles in conversations that were written as one text.
  markup: /^(?:system|developer|user|assistant|tool):/g,
}

const TYPES = /^(?:SPAN|EVENT|GENERATION|AGENT|TOOL|CHAIN|RETRIEVER|EVALUATOR|EMBEDDING|GUARDRAIL)$/

const isObservation = (value: unknown): boolean =>
  TYPES.test(asText(at(value, 'type'))) &&
  (field(value, 'traceId') !== undefined || field(value, 'startTime') !== undefined)

/** A field by its name in the API, or as exports to buckets spell it. */
const field = (value: unknown, name: string): unknown =>
  at(value, name) ??
  at(
    value,
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  )

interface Observation {
  id: string
  type: string
  name: string
  parent: string | undefined
  input: unknown
  output: unknown
  metadata: JsonObject
  /** OpenTelemetry attributes, if it came from there. */
  attributes: JsonObject
  fields: unknown
}

interface Trace {
  where: string
  fields: unknown
  observations: Map<string, Observation>
}

async function* read(records: AsyncIterable<LogRecord>): AsyncGenerator<LoggedRun | Unreadable> {
  const traces = new Map<string, Trace>()
  for await (const { value, where } of records) {
    if (!langfuse.matches(value))
      yield { where, problem: 'it is neither a trace nor an observation of Langfuse' }
    else add(value, where, traces)
  }
  for (const [id, trace] of traces) yield runOf(id, trace)
}

function add(value: unknown, where: string, traces: Map<string, Trace>): void {
  const rows = listOf(at(value, 'observations'))
  const head = at(value, 'trace') ?? (rows.length > 0 ? value : undefined)
  for (const row of rows.length > 0 ? rows : [value]) {
    const id = asText(field(row, 'traceId') ?? at(head, 'id') ?? where)
    const trace = traces.get(id) ?? { where, fields: undefined, observations: new Map() }
    traces.set(id, trace)
    trace.fields ??= head
    const observation = observationOf(row, `${trace.observations.size}`)
    trace.observations.set(observation.id, observation)
  }
}

function observationOf(row: unknown, position: string): Observation {
  const metadata = objectOf(parsedText(at(row, 'metadata')))
  return {
    id: asText(at(row, 'id') ?? position),
    type: asText(at(row, 'type')),
    name: asText(at(row, 'name')),
    parent: textOf(field(row, 'parentObservationId')),
    input: at(row, 'input'),
    output: at(row, 'output'),
    metadata,
    attributes: objectOf(parsedText(metadata['attributes'])),
    fields: row,
  }
}

function runOf(id: string, { where, fields, observations }: Trace): LoggedRun {
  const all = [...observations.values()]
  const models = modelSteps(all, observations)
  const called = new Set(
    models
      .flatMap(({ messages, output }) => [...messages, ...output].flatMap(({ calls }) => calls))
      .map(({ tool }) => toolName(tool)),
  )
  const tools = all.filter((one) => isTool(one, called)).map((one) => toolStep(one, observations))
  const { items, leftOut, tools: handedBy } = itemsOfSteps(models, tools)
  const roots = all.filter(({ parent }) => parent === undefined || !observations.has(parent))
  const root = roots.find(({ output }) => !isEmpty(output)) ?? roots[0]
  const question = questionIn(at(fields, 'input')) ?? questionIn(root?.input)
  const failed = items.at(-1)?.type === 'failed'
  const answer = failed
    ? undefined
    : (answerIn(at(fields, 'output')) ?? answerIn(root?.output) ?? lastWords(items))
  const score = listOf(at(fields, 'scores')).find((one) =>
    /^correct(?:ness)?$/i.test(asText(at(one, 'name'))),
  )
  const value = at(score, 'value')
  return {
    where,
    id,
    ...(question === undefined ? {} : { question }),
    ...(answer === undefined ? {} : { answer }),
    ...(value === 0 || value === 1 ? { correct: value === 1 } : {}),
    tools: [...handedBy, ...all.flatMap(offered)],
    items,
    leftOut,
    source: [
      { input: at(fields, 'input'), output: at(fields, 'output') },
      ...all.map((one) => ({
        input: one.input,
        output: one.output,
        statusMessage: field(one.fields, 'statusMessage'),
      })),
    ],
    meta: { name: asText(at(fields, 'name') ?? root?.name) },
  }
}

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === ''

/** Without generations, the spans that hold a conversation are the model calls. */
function modelSteps(all: readonly Observation[], observations: Trace['observations']): ModelStep[] {
  const generations = all
    .filter(({ type }) => type === 'GENERATION')
    .map((one) => modelStep(one, observations))
  if (generations.some(({ output }) => output.length > 0)) return generations
  const spans = all.filter(
    ({ type, input, output }) => /^(?:SPAN|CHAIN|AGENT)$/.test(type) && isChat(input) && isChat(output),
  )
  return [...generations, ...spans.map((one) => modelStep(one, observations))]
}

const isChat = (value: unknown): boolean => /"(?:role|parts|lc)"|"type": ?"(?:human|ai)"/.test(asText(value))

function stepOf(
  one: Observation,
  observations: Trace['observations'],
): Omit<ModelStep, 'messages' | 'output'> {
  const start = preciseTime(field(one.fields, 'startTime')) ?? 0
  return {
    id: one.id,
    order: one.id,
    name: one.name,
    start,
    end: preciseTime(field(one.fields, 'endTime')) ?? start,
    agent: agentOf(one, observations),
    around: around(one, observations),
  }
}

function around(one: Observation, observations: Trace['observations']): string[] {
  const ids: string[] = []
  for (let id = one.parent; id !== undefined && !ids.includes(id); id = observations.get(id)?.parent)
    ids.push(id)
  return ids
}

/** By what the observation or the nearest one around it says; the outermost is the program. */
function agentOf(one: Observation, observations: Trace['observations']): string | undefined {
  const own = namedIn(one)
  if (own !== undefined) return own
  for (const id of around(one, observations)) {
    const outer = observations.get(id)
    if (outer === undefined) break
    const named = namedIn(outer) ?? nameOf(outer)
    if (named !== undefined) return named
  }
  return undefined
}

function namedIn({ attributes, metadata }: Observation): string | undefined {
  for (const key of ['gen_ai.agent.name', 'agent.name', 'agent_name']) {
    const name = textOf(attributes[key])
    if (name !== undefined && name !== '' && !UNNAMED.test(name)) return name
  }
  return langChainAgent(metadata)
}

const UNNAMED = /[.<(]|[0-9a-f]{8}-[0-9a-f]{4}/

/** An observation's name as an agent's: frameworks write `invoke_agent researcher` or `agent_run [researcher]`. */
function nameOf({ type, name, parent }: Observation): string | undefined {
  const bare = name.replace(/^(?:invoke_agent|agent_run)\s+\[?|\]$/g, '')
  const may = type === 'AGENT' || (/^(?:SPAN|CHAIN)$/.test(type) && parent !== undefined)
  return may && mayBeAgent(bare) && !UNNAMED.test(bare) ? bare : undefined
}

function modelStep(one: Observation, observations: Trace['observations']): ModelStep {
  const { attributes, fields } = one
  const input = turnsIn(one.input, 'user').filter((turn) => !isDefinition(turn))
  const messages = input.length > 0 ? input : sentIn(attributes)
  const output = turnsIn(one.output, 'assistant').filter(({ role }) => role !== 'system')
  const message = textOf(field(fields, 'statusMessage')) ?? ''
  return {
    ...stepOf(one, observations),
    messages: messages.some(isSystem) ? messages : [...instructionsOf(one, observations), ...messages],
    output: output.some(({ role }) => role === 'assistant') ? output : answeredIn(attributes),
    ...(at(fields, 'level') === 'ERROR' && message !== '' ? { error: message } : {}),
  }
}

const isSystem = ({ role, text }: ChatTurn): boolean => role === 'system' && text !== ''

/** A system prompt that is apart from the messages: in the answer, the attributes, or an observation around it of the same agent. */
function instructionsOf(one: Observation, observations: Trace['observations']): ChatTurn[] {
  const agent = agentOf(one, observations)
  const outer = around(one, observations)
    .map((id) => observations.get(id))
    .filter((other) => other !== undefined && [agent, undefined].includes(agentOf(other, observations)))
  const found = [
    ...turnsIn({ role: 'system', content: at(parsedText(one.output), 'instructions') }, 'user'),
    ...instructionsIn(one.attributes),
    ...outer.flatMap((other) => [...instructionsIn(other!.attributes), ...turnsIn(other!.input, 'user')]),
  ]
  return found.filter(isSystem).slice(0, 1)
}

function offered({ input, attributes }: Observation): ReturnType<typeof toolsOf> {
  const read = parsedText(input)
  const definitions = listOf(read)
    .map((message) => at(message, 'content'))
    .filter((content) => definitionIn(asText(content)) !== undefined)
  const described = listOf(folded(attributes, 'llm.tools')).map((tool) =>
    parsedText(at(tool, 'tool', 'json_schema')),
  )
  return [
    at(read, 'tools'),
    definitions,
    parsedText(attributes['gen_ai.tool.definitions']),
    described,
  ].flatMap(toolsOf)
}

/** Older traces type tools as spans; those are known by their attributes, their output, or a call of that name. */
function isTool(one: Observation, called: ReadonlySet<string>): boolean {
  if (one.type === 'TOOL' || one.type === 'RETRIEVER') return true
  if (!/^(?:SPAN|EVENT|CHAIN|AGENT)$/.test(one.type)) return false
  if (toolIn(one.attributes) !== undefined) return true
  return (
    (called.has(toolName(bareTool(one.name))) && !(isEmpty(one.input) && isEmpty(one.output))) ||
    /^\s*\{[^{}]*"type": ?"tool"/.test(asText(one.output))
  )
}

const toolIn = (attributes: JsonObject): string | undefined =>
  ['gen_ai.tool.name', 'tool.name', 'ai.toolCall.name']
    .map((key) => textOf(attributes[key]))
    .find((name) => name !== undefined)

const bareTool = (name: string): string => name.replace(/^(?:running tool:|execute_tool|tool[.:])\s*/, '')

function toolStep(one: Observation, observations: Trace['observations']): ToolStep {
  const { attributes, fields } = one
  const given = toolInput(one.input)
  const returned = toolOutput(one.output)
  const failed = at(fields, 'level') === 'ERROR'
  const call =
    textOf(attributes['gen_ai.tool.call.id']) ??
    textOf(attributes['ai.toolCall.id']) ??
    given.call ??
    returned.call
  const message = textOf(field(fields, 'statusMessage')) ?? ''
  return {
    ...stepOf(one, observations),
    tool: toolIn(attributes) ?? bareTool(one.name),
    input: given.input,
    output: returned.output === '' && failed ? message : returned.output,
    ok: returned.ok ?? !failed,
    ...(call === undefined ? {} : { call }),
  }
}
