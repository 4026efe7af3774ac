import { langChainAgent, mayBeAgent } from '../agent-names.ts'
import type { LogFormat, LoggedRun, LogRecord, Unreadable } from '../contract.ts'
import { at, isObject, type JsonObject, listOf, objectOf, textOf } from '../json.ts'
import { LangChainConversation } from '../langchain-conversation.ts'
import { messagesIn } from '../langgraph-pieces.ts'
import { parsedText, turnsIn } from '../messages/any-dialect.ts'
import { itemsOfChat } from '../one-chat.ts'
import { toolsOf } from '../record-head.ts'
import { itemsOfSteps, type ModelStep, type ToolStep } from '../trace-steps.ts'
import {
  answerIn,
  errorIn,
  lastWords,
  preciseTime,
  questionIn,
  toolInput,
  toolOutput,
} from '../trace-values.ts'

/** Runs of LangSmith: exported rows, runs with their children inside, and the batches that its SDK sends. */
export const langsmith: LogFormat = {
  name: 'langsmith',
  title: 'LangSmith runs of LangChain, LangGraph and other programs',
  matches: (value) => runsIn(value).length > 0 && runsIn(value).every(isRun),
  read,
}

const isRun = (value: unknown): boolean =>
  isObject(value) &&
  ('run_type' in value || 'parent_run_id' in value || 'outputs' in value || 'end_time' in value) &&
  ('dotted_order' in value || ('run_type' in value && 'inputs' in value))

function runsIn(value: unknown): readonly unknown[] {
  const batch = [...listOf(at(value, 'post')), ...listOf(at(value, 'patch'))]
  return batch.length > 0 ? batch : [value]
}

interface Run {
  id: string
  parent: string | undefined
  trace: string
  where: string
  fields: JsonObject
}

async function* read(records: AsyncIterable<LogRecord>): AsyncGenerator<LoggedRun | Unreadable> {
  const runs = new Map<string, Run>()
  for await (const { value, where } of records) {
    const found = runsIn(value).filter(isRun)
    if (found.length === 0) yield { where, problem: 'it is not a run of LangSmith' }
    for (const run of found) add(objectOf(run), where, undefined, runs)
  }
  const traces = new Map<string, Run[]>()
  for (const run of runs.values()) {
    const trace = rootOf(run, runs)
    const list = traces.get(trace)
    if (list === undefined) traces.set(trace, [run])
    else list.push(run)
  }
  for (const [id, trace] of traces) yield runOf(id, trace, runs)
}

/** A run with everything known about it so far: a patch adds its outputs later, or comes first. */
function add(fields: JsonObject, where: string, above: Run | undefined, runs: Map<string, Run>): void {
  const order = textOf(fields['dotted_order'])?.split('.') ?? []
  const ids = order.map((part) => part.slice(part.indexOf('Z') + 1))
  const id = textOf(fields['id']) ?? ids.at(-1)
  if (id === undefined) return
  const known = runs.get(id)
  const parent = textOf(fields['parent_run_id']) ?? ids.at(-2) ?? above?.id ?? known?.parent
  const trace = textOf(fields['trace_id']) ?? ids[0] ?? above?.trace ?? known?.trace ?? id
  const run: Run = { id, parent, trace, where: known?.where ?? where, fields: merged(known?.fields, fields) }
  runs.set(id, run)
  for (const child of listOf(fields['child_runs'])) add(objectOf(child), where, run, runs)
}

const EMPTY = new Set<unknown>([undefined, null, ''])

function merged(known: JsonObject = {}, fields: JsonObject): JsonObject {
  const filled = Object.entries(fields).filter(([, value]) => !EMPTY.has(value))
  return { ...known, ...Object.fromEntries(filled) }
}

/** Runs without a trace id are found by their parents. */
function rootOf(run: Run, runs: ReadonlyMap<string, Run>): string {
  const root = around(run, runs).at(-1)
  return root === undefined ? run.trace : (runs.get(root)?.trace ?? run.trace)
}

/** The ids of the runs around a run, from the nearest outwards. */
function around(run: Run, runs: ReadonlyMap<string, Run>): string[] {
  const ids: string[] = []
  for (let id = run.parent; id !== undefined && !ids.includes(id); id = runs.get(id)?.parent) ids.push(id)
  return ids
}

function runOf(id: string, trace: readonly Run[], runs: ReadonlyMap<string, Run>): LoggedRun {
  const models: ModelStep[] = []
  const tools: ToolStep[] = []
  for (const run of trace) {
    const kind = run.fields['run_type']
    if (kind === 'llm' || kind === 'chat_model') models.push(modelStep(run, runs))
    else if (kind === 'tool' || kind === 'retriever') tools.push(toolStep(run, runs))
  }
  const root =
    trace.find(({ id: own }) => own === id) ?? trace.find(({ parent }) => parent === undefined) ?? trace[0]!
  const {
    items,
    leftOut,
    tools: handedBy,
  } = models.length + tools.length > 0 ? itemsOfSteps(models, tools) : conversationIn(root)
  const error = errorIn(root.fields['error'])
  const failed = items.some(
    (item) => item.type === 'failed' || (item.type === 'returned' && item.ok === false),
  )
  const question = questionIn(parsedText(root.fields['inputs']))
  const answer = error === undefined ? (answerIn(root.fields['outputs']) ?? lastWords(items)) : undefined
  const correct = at(root.fields, 'feedback_stats', 'correctness', 'avg')
  return {
    where: root.where,
    id,
    ...(question === undefined ? {} : { question }),
    ...(answer === undefined ? {} : { answer }),
    ...(correct === 0 || correct === 1 ? { correct: correct === 1 } : {}),
    tools: [...handedBy, ...trace.flatMap((run) => toolsOf(offered(run)))],
    items:
      error === undefined || failed
        ? items
        : [...items, { type: 'failed', agent: agentOf(root, runs) ?? 'assistant', message: error }],
    leftOut,
    source: trace.map(({ fields: { inputs, outputs, error: message } }) => ({
      inputs,
      outputs,
      error: message,
    })),
    meta: { name: textOf(root.fields['name']) ?? '' },
  }
}

/** Where only the outermost runs were exported, the messages they ended with tell what happened within. */
function conversationIn({ fields }: Run): ReturnType<typeof itemsOfSteps> {
  const [inputs, outputs] = [parsedText(fields['inputs']), parsedText(fields['outputs'])]
  const conversation = new LangChainConversation()
  for (const value of [inputs, outputs]) conversation.add(messagesIn(at(value, 'messages') ?? []))
  const { items, leftOut = [], tools = [] } = conversation.read()
  if (items.length > 0) return { items: [...items], leftOut: [...leftOut], tools: [...tools] }
  return itemsOfChat([...turnsIn(inputs, 'user'), ...turnsIn(outputs, 'assistant')])
}

const metadataOf = (run: Run): unknown => at(run.fields, 'extra', 'metadata') ?? run.fields['metadata']

const offered = (run: Run): unknown =>
  at(run.fields, 'extra', 'invocation_params', 'tools') ?? at(parsedText(run.fields['inputs']), 'tools')

function stepOf(run: Run, runs: ReadonlyMap<string, Run>): Omit<ModelStep, 'messages' | 'output'> {
  const start = preciseTime(run.fields['start_time']) ?? startIn(run) ?? 0
  return {
    id: run.id,
    order: textOf(run.fields['dotted_order']) ?? run.id,
    name: textOf(run.fields['name']) ?? '',
    start,
    end: preciseTime(run.fields['end_time']) ?? start,
    agent: agentOf(run, runs),
    around: around(run, runs),
  }
}

/** The beginning of the last part of `dotted_order` is a time. */
function startIn(run: Run): number | undefined {
  const part = textOf(run.fields['dotted_order'])?.split('.').at(-1) ?? ''
  const [, date, hours, minutes, seconds, micro] = /^(\d{8})T(\d\d)(\d\d)(\d\d)(\d{6})Z/.exec(part) ?? []
  if (date === undefined) return undefined
  const day = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`
  return preciseTime(`${day}T${hours}:${minutes}:${seconds}.${micro}Z`)
}

/** By its metadata, or the nearest run around it that can be an agent; the outermost run is the program. */
function agentOf(run: Run, runs: ReadonlyMap<string, Run>): string | undefined {
  const own = langChainAgent(metadataOf(run))
  if (own !== undefined) return own
  const chains = around(run, runs)
    .map((id) => runs.get(id)?.fields)
    .filter((fields) => fields?.['run_type'] === 'chain')
  return chains.map((fields) => textOf(fields?.['name']) ?? '').find(mayBeAgent)
}

function modelStep(run: Run, runs: ReadonlyMap<string, Run>): ModelStep {
  const error = errorIn(run.fields['error'])
  return {
    ...stepOf(run, runs),
    messages: turnsIn(run.fields['inputs'], 'user'),
    output: turnsIn(run.fields['outputs'], 'assistant').filter(({ role }) => role !== 'system'),
    ...(error === undefined ? {} : { error }),
  }
}

function toolStep(run: Run, runs: ReadonlyMap<string, Run>): ToolStep {
  const given = toolInput(run.fields['inputs'])
  const error = errorIn(run.fields['error'])
  const returned = toolOutput(documents(run.fields['outputs']) ?? run.fields['outputs'])
  const call = given.call ?? returned.call
  return {
    ...stepOf(run, runs),
    tool: textOf(run.fields['name']) ?? given.tool ?? 'tool',
    input: given.input,
    output: returned.output === '' ? (error ?? '') : returned.output,
    ok: returned.ok ?? error === undefined,
    ...(call === undefined ? {} : { call }),
  }
}

/** What a retriever found. */
function documents(outputs: unknown): string | undefined {
  const found = listOf(at(parsedText(outputs), 'documents'))
  const texts = found.map(
    (one) => textOf(at(one, 'page_content')) ?? textOf(at(one, 'kwargs', 'page_content')),
  )
  return found.length === 0 ? undefined : texts.filter((text) => text !== undefined).join('\n\n')
}
