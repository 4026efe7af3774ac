import { eachRecord, type Json, type LogFormat, type LoggedItem, type LoggedRun } from '../contract.ts'
import { asText, at, isObject, parsedOr, timeOf } from '../json.ts'
import { contentText } from '../messages/openai.ts'
import { goldIn, verdictOf } from '../record-head.ts'
import type { LogMap } from './log-map.ts'

const AGENT = 'assistant'

/** A format for logs that a map describes. */
export function mappedFormat(map: LogMap): LogFormat {
  return {
    name: 'map',
    title: 'logs described by a map',
    matches: (value) => isObject(value) && Array.isArray(valueAt(value, map.turns)),
    read: eachRecord((value) => readRecord(value, map)),
  }
}

function readRecord(value: unknown, map: LogMap): Omit<LoggedRun, 'where' | 'source'> {
  const turns = valueAt(value, map.turns)
  if (!Array.isArray(turns)) throw new Error(`there is no list of turns at "${map.turns}"`)
  const [id, question, answer] = [map.id, map.question, map.answer].map((path) => textAt(value, path))
  const [gold, correct] = [goldIn(valueAt(value, map.gold)), verdictOf(valueAt(value, map.correct))]
  const told = [
    { role: 'system', content: textAt(value, map.system) },
    { role: 'user', content: question ?? '' },
  ].flatMap(({ role, content }) => (content === undefined || content === '' ? [] : [{ role, content }]))
  const items = turns.flatMap((turn) => itemsOf(turn, map.turn))
  const prompt: LoggedItem[] =
    told.length === 0 ? [] : [{ type: 'prompted', agent: items[0]?.agent ?? AGENT, messages: told }]
  return {
    items: [...prompt, ...items],
    ...(id === undefined ? {} : { id }),
    ...(question === undefined ? {} : { question }),
    ...(answer === undefined || answer === '' ? {} : { answer }),
    ...(gold.length === 0 ? {} : { gold }),
    ...(correct === undefined ? {} : { correct }),
  }
}

/** What one turn contains: a prompt, or a thought and words, then calls and results. */
function itemsOf(turn: unknown, map: LogMap['turn']): LoggedItem[] {
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
function callItems(turn: unknown, map: LogMap['turn']): WithoutAgent<CallItem>[] {
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

/** Nothing and null are the same. */
function valueAt(value: unknown, path: string | undefined): unknown {
  return path === undefined ? undefined : (at(value, ...path.split('.')) ?? undefined)
}

function textAt(value: unknown, path: string | undefined): string | undefined {
  const found = valueAt(value, path)
  return found === undefined ? undefined : Array.isArray(found) ? contentText(found) : asText(found)
}
