import {
  asJson,
  at,
  type Json,
  type LeftOut,
  type LoggedCall,
  type LoggedItem,
  type LoggedRun,
  type LoggedTool,
  listOf,
  runsOfCalls,
} from '../../../logs/index.ts'
import { answerOf, type Exchange, exchangesIn, readAnswer, requestOf } from './exchanges.ts'
import type { Entry, RunResult } from './journal.ts'

/** The run that a journal tells of; undefined if no call of it may be recorded. */
export function runOfJournal(entries: readonly Entry[]): LoggedRun | undefined {
  const id = entries.find((entry) => entry.entry === 'run')?.id
  const exchanges = exchangesIn(entries)
  const repeated = new Set(exchanges.map(({ retryOf }) => retryOf))
  const kept = exchanges.filter(
    ({ number, excluded, body }) => !excluded && !repeated.has(number) && !isProbe(body),
  )
  if (id === undefined || kept.length === 0) return undefined
  const calls = kept.map((exchange) => readCall(exchange, id))
  const [run] = runsOfCalls(calls.map(({ call }) => call))
  const { items, tools = [], leftOut = [] } = run!
  const { answer, gold, reward } = resultIn(entries)
  const said = answer ?? lastWords(items)
  return {
    where: id,
    id,
    items,
    tools: toolsIn(tools),
    leftOut: [...leftOut, ...kept.flatMap(unreadOf)],
    ...(said === undefined ? {} : { answer: said }),
    ...(gold === undefined ? {} : { gold }),
    ...(reward === 0 || reward === 1 ? { correct: reward === 1 } : {}),
    source: sourceOf(kept),
    meta: {
      ...(reward === undefined ? {} : { reward }),
      calls: calls.map(({ facts }) => facts),
      ...(kept.length === exchanges.length ? {} : { callsLeftOut: exchanges.length - kept.length }),
    },
  }
}

/** Apps ask for a single token to see whether a model is there. */
const isProbe = (body: unknown): boolean =>
  ['max_tokens', 'max_completion_tokens', 'max_output_tokens'].some((key) => at(body, key) === 1)

function readCall(exchange: Exchange, run: string): { call: LoggedCall; facts: { [key: string]: Json } } {
  const { agent, api, at } = exchange
  const { system, turns, tools, model } = requestOf(exchange)
  const { turns: answered, others = [], error, tokens, sampled, ...answer } = answerOf(exchange)
  const messages =
    system === '' ? turns : [{ role: 'system' as const, text: system, calls: [], results: [] }, ...turns]
  const by = answer.model ?? model
  const failed = error === undefined ? {} : { error }
  return {
    call: {
      where: run,
      run,
      agent,
      value: undefined,
      messages,
      choices: [answered, ...others],
      tools,
      at,
      ...failed,
    },
    facts: {
      agent,
      api: api.name,
      ...(by === undefined ? {} : { model: by }),
      ...(tokens === undefined ? {} : { tokens: asJson(tokens) }),
      ...(sampled === undefined ? {} : { sampled: asJson(sampled) }),
      ...failed,
    },
  }
}

/** What the app said about its run; the latest counts. */
function resultIn(entries: readonly Entry[]): RunResult {
  const results = entries.filter((entry) => entry.entry === 'result')
  return Object.assign({}, ...results) as RunResult
}

/** The words that the run ends with, if they call no tool and nothing failed after them. */
function lastWords(items: readonly LoggedItem[]): string | undefined {
  const last = items.at(-1)
  return last?.type === 'wrote' && last.text !== '' ? last.text : undefined
}

/** Each tool as it was offered last. */
const toolsIn = (tools: readonly LoggedTool[]): LoggedTool[] => [
  ...new Map(tools.map((tool) => [tool.name, tool])).values(),
]

/** What arrived and is no answer of the API, such as the page of a proxy. The bodies of errors are in the events. */
const unreadOf = (exchange: Exchange): LeftOut[] =>
  (exchange.status ?? 0) >= 400
    ? []
    : readAnswer(exchange).unread.map((text) => ({ at: 'response', reason: 'no answer of this API', text }))

/** Everything that was said, once: each request repeats what came before it. */
function sourceOf(exchanges: readonly Exchange[]): unknown[] {
  const values = new Map<string, unknown>()
  const add = (value: unknown): void => {
    for (const one of Array.isArray(value) ? value : [value]) {
      const said = withoutNames(one)
      values.set(JSON.stringify(said) ?? '', said)
    }
  }
  for (const exchange of exchanges) {
    for (const key of ['system', 'instructions', 'messages', 'input']) add(at(exchange.body, key))
    const { body } = readAnswer(exchange)
    add(listOf(at(body, 'choices')).map((choice) => at(choice, 'message')))
    add(at(body, 'output'))
    add(at(body, 'content'))
  }
  values.delete('')
  return [...values.values()]
}

/** Ids, kinds and signatures: nobody wrote them. */
const names = new Set([
  'id',
  'type',
  'role',
  'name',
  'tool_call_id',
  'call_id',
  'tool_use_id',
  'status',
  'signature',
  'encrypted_content',
  'data',
  'url',
])

function withoutNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNames)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !names.has(key))
      .map(([key, inner]) => [key, withoutNames(inner)]),
  )
}
