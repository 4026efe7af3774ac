import {
  eachRecord,
  type Json,
  type LogFormat,
  type LoggedItem,
  type LoggedRun,
  type LogRecord,
  type Unreadable,
} from '../contract.ts'
import { asText, at, isObject, parsedOr, timeOf } from '../json.ts'
import { contentText } from '../messages/openai.ts'
import { goldIn, verdictOf } from '../record-head.ts'
import type { LogMap } from './log-map.ts'

const AGENT = 'assistant'
type TurnMap = NonNullable<LogMap['turn']>

/** A format for logs that a map describes; undefined if the map only renames fields of another format. */
export function mappedFormat(map: LogMap): LogFormat | undefined {
  const { turns, run, turn = {} } = map
  if (turns === undefined && run === undefined) return undefined
  return {
    name: 'map',
    title: 'logs described by a map',
    matches: (value) =>
      isObject(value) && (turns === undefined ? valueAt(value, run) : listAt(value, turns)) !== undefined,
    read:
      turns === undefined
        ? (records) => readTurns(records, run!, map, turn)
        : eachRecord((value) => {
            const list = listAt(value, turns)
            if (list === undefined) throw new Error(`there is no list of turns at "${turns}"`)
            return readRun(value, list, map, turn)
          }),
  }
}

/** Every record is a turn. Those of several runs may be mixed. */
async function* readTurns(
  records: AsyncIterable<LogRecord>,
  run: string,
  map: LogMap,
  turn: TurnMap,
): AsyncGenerator<LoggedRun | Unreadable> {
  const runs = new Map<string, LogRecord[]>()
  for await (const record of records) {
    const id = textAt(record.value, run)
    if (id === undefined) yield { where: record.where, problem: `there is no id of a run at "${run}"` }
    else if (runs.has(id)) runs.get(id)!.push(record)
    else runs.set(id, [record])
  }
  for (const [id, turns] of runs) {
    const source = turns.map(({ value }) => value)
    // What is said about the run may be in any of its turns.
    const head = Object.assign({}, ...source.toReversed()) as unknown
    yield { id, ...readRun(head, source, map, turn), where: turns[0]!.where, source }
  }
}

function readRun(
  value: unknown,
  turns: readonly unknown[],
  map: LogMap,
  turn: TurnMap,
): Omit<LoggedRun, 'where' | 'source'> {
  const [id, question] = [map.id, map.question].map((path) => textAt(value, path))
  const [gold, correct] = [goldIn(valueAt(value, map.gold)), verdictOf(valueAt(value, map.correct))]
  const told = [
    { role: 'system', content: textAt(value, map.system) },
    { role: 'user', content: question ?? '' },
  ].flatMap(({ role, content }) => (content === undefined || content === '' ? [] : [{ role, content }]))
  const items = turns.flatMap((one) => itemsOf(one, turn))
  const prompt: LoggedItem[] =
    told.length === 0 ? [] : [{ type: 'prompted', agent: items[0]?.agent ?? AGENT, messages: told }]
  const last = items.at(-1)
  // Where nothing says what the answer is, it is what the run ends with, if that is text.
  const answer = map.answer === undefined ? last?.type === 'wrote' && last.text : textAt(value, map.answer)
  return {
    items: [...prompt, ...items],
    ...(id === undefined ? {} : { id }),
    ...(question === undefined ? {} : { question }),
    ...(answer ? { answer } : {}),
    ...(gold.length === 0 ? {} : { gold }),
    ...(correct === undefined ? {} : { correct }),
  }
}

/** What one turn contains: a prompt, or a thought and words, then calls and results. */
function itemsOf(turn: unknown, map: TurnMap): LoggedItem[] {
  const time = timeOf(valueAt(turn, map.time))
  const base = { agent: textAt(turn, map.agent) ?? AGENT, ...(time === undefined ? {} : { at: time }) }
  const role = textAt(turn, map.role)?.toLowerCase()
  const text = textAt(turn, map.text) ?? ''
  if (role === 'user' || role === 'human' || role === 'system' || role === 'developer') {
    const content = text
    const told = { role: role === 'user' || role === 'human' ? 'user' : 'system', content }
    return content === '' ? [] : [{ ...base, type: 'prompted', messages: [told] }]
  }
  const thought = textAt(turn, map.thought)
  const wrote: LoggedItem[] =
    text === '' && thought === undefined
      ? []
      : [{ ...base, type: 'wrote', text, ...(thought === undefined ? {} : { thought }) }]
  const list = map.calls === undefined ? [turn] : valueAt(turn, map.calls)
  const calls = Array.isArray(list) ? list : []
  return [...wrote, ...calls.flatMap((call) => callItems(call, map).map((item) => ({ ...item, ...base })))]
}

type CallItem = Extract<LoggedItem, { type: 'called' | 'returned' }>
type WithoutAgent<T> = T extends unknown ? Omit<T, 'agent'> : never

/** A turn with an input, or with a tool and no output, calls it; one with an output has its result. */
function callItems(turn: unknown, map: TurnMap): WithoutAgent<CallItem>[] {
  const tool = textAt(turn, map.tool)
  const [input, output] = [valueAt(turn, map.input), valueAt(turn, map.output)]
  const id = textAt(turn, map.call)
  const call = id === undefined ? {} : { call: id }
  const isCall = tool !== undefined && (input !== undefined || output === undefined)
  return [
    ...(isCall ? [{ type: 'called' as const, tool, input: parsedOr(input ?? {}) as Json, ...call }] : []),
    ...(output === undefined
      ? []
      : [
          {
            type: 'returned' as const,
            output: contentText(output),
            ...call,
            ...(tool === undefined ? {} : { tool }),
          },
        ]),
  ]
}

const listAt = (value: unknown, path: string): readonly unknown[] | undefined => {
  const list = valueAt(value, path)
  return Array.isArray(list) ? list : undefined
}

/** Nothing and null are the same. */
function valueAt(value: unknown, path: string | undefined): unknown {
  return path === undefined ? undefined : (at(value, ...path.split('.')) ?? undefined)
}

function textAt(value: unknown, path: string | undefined): string | undefined {
  const found = valueAt(value, path)
  return found === undefined ? undefined : Array.isArray(found) ? contentText(found) : asText(found)
}
