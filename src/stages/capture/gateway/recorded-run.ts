import {
  asJson,
  at,
  itemsOfCalls,
  type Json,
  type LoggedItem,
  type LoggedRun,
  type LoggedTool,
  listOf,
  type ModelCall,
} from '../../../logs/index.ts'
import { answerBody, answerOf, type Exchange, exchangesIn, requestOf } from './exchanges.ts'
import type { Entry, RunResult } from './journal.ts'

/** The run that a journal tells of; undefined if no call of it may be recorded. */
export function runOfJournal(entries: readonly Entry[]): LoggedRun | undefined {
  const [first] = entries
  const exchanges = exchangesIn(entries)
  const repeated = new Set(exchanges.map(({ retryOf }) => retryOf))
  const kept = exchanges.filter(
    ({ number, excluded, body }) => !excluded && !repeated.has(number) && !isProbe(body),
  )
  if (first?.entry !== 'run' || kept.length === 0) return undefined
  const calls = kept.map(readCall)
  const items = itemsOfCalls(calls.map(({ call }) => call))
  const { answer, gold, reward } = resultIn(entries)
  const said = answer ?? lastWords(items)
  return {
    where: first.id,
    id: first.id,
    items,
    tools: toolsIn(calls.map(({ tools }) => tools)),
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

function readCall(exchange: Exchange): {
  call: ModelCall
  tools: readonly LoggedTool[]
  facts: { [key: string]: Json }
} {
  const { agent, api } = exchange
  const { system, turns, tools, model } = requestOf(exchange)
  const answer = answerOf(exchange)
  const messages =
    system === '' ? turns : [{ role: 'system' as const, text: system, calls: [], results: [] }, ...turns]
  const by = answer.model ?? model
  return {
    call: {
      agent,
      messages,
      output: answer.turns,
      at: exchange.at,
      ...(answer.error === undefined ? {} : { error: answer.error }),
    },
    tools,
    facts: {
      agent,
      api: api.name,
      ...(by === undefined ? {} : { model: by }),
      ...(answer.tokens === undefined ? {} : { tokens: asJson(answer.tokens) }),
      ...(answer.sampled === undefined ? {} : { sampled: asJson(answer.sampled) }),
      ...(answer.error === undefined ? {} : { error: answer.error }),
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

function toolsIn(lists: readonly (readonly LoggedTool[])[]): LoggedTool[] {
  const byName = new Map<string, LoggedTool>()
  for (const tool of lists.flat()) byName.set(tool.name, tool)
  return [...byName.values()]
}

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
    const answer = answerBody(exchange)
    add(listOf(at(answer, 'choices')).map((choice) => at(choice, 'message')))
    add(at(answer, 'output'))
    add(at(answer, 'content'))
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
