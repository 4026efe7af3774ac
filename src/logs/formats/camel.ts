import type { LogFormat, LoggedRun, LogRecord, Unreadable } from '../contract.ts'
import { asText, at, isObject, listOf, parsedOr, textOf, timeOf } from '../json.ts'
import { readOpenAiMessage } from '../messages/openai.ts'
import { itemsOfCalls, type ModelCall } from '../model-calls.ts'
import { itemsOfSpeeches, type Speech } from '../speeches.ts'

/**
 * Runs of CAMEL and OWL: the model's calls, one file each below a folder per agent, and chat histories with an instruction
 * and a solution per round.
 */
export const camel: LogFormat = {
  name: 'camel',
  title: 'CAMEL model logs and OWL chat histories',
  matches: (value) => isCall(value) || roundsIn(value).length > 0,
  read: readAll,
}

const isCall = (value: unknown): boolean =>
  typeof at(value, 'agent_id') === 'string' && Array.isArray(at(value, 'request', 'messages'))

const isRound = (value: unknown): boolean =>
  isObject(value) && typeof value['user'] === 'string' && typeof value['assistant'] === 'string'

function roundsIn(value: unknown): readonly unknown[] {
  const list = Array.isArray(value) ? value : listOf(at(value, 'history') ?? at(value, 'chat_history'))
  return list.every(isRound) ? list : []
}

async function* readAll(records: AsyncIterable<LogRecord>): AsyncGenerator<LoggedRun | Unreadable> {
  const folders = new Map<string, { where: string; values: unknown[] }>()
  for await (const { value, where } of records) {
    if (isCall(value)) {
      // `camel_logs/<agent>/conv_<time>.json`: the agents of a run have a folder each in the same folder.
      const folder = where
        .replace(/[:#]\d+$/, '')
        .split(/[\\/]/)
        .slice(0, -2)
        .join('/')
      const run = folders.get(folder) ?? { where, values: [] }
      folders.set(folder, run)
      run.values.push(value)
    } else if (roundsIn(value).length > 0) yield runOfRounds(value, where)
    else yield { where, problem: 'it is neither a call of a model nor a chat history' }
  }
  for (const { where, values } of folders.values()) yield runOfCalls(values, where)
}

/** The calls of all agents, in the order of their requests. */
function runOfCalls(values: readonly unknown[], where: string): LoggedRun {
  const calls = values
    .map((value): ModelCall => {
      const message = at(value, 'response', 'choices', 0, 'message')
      const time = timeOf(at(value, 'request_timestamp'))
      return {
        agent: asText(at(value, 'agent_id')),
        messages: listOf(at(value, 'request', 'messages')).map(readOpenAiMessage),
        output: message === undefined ? [] : [readOpenAiMessage(message)],
        ...(time === undefined ? {} : { at: time }),
      }
    })
    .sort((one, other) => (one.at ?? 0) - (other.at ?? 0))
  const last = calls.at(-1)?.output.at(-1)
  const isAnswer = last !== undefined && last.calls.length === 0 && last.text !== ''
  return { where, source: values, items: itemsOfCalls(calls), ...(isAnswer ? { answer: last.text } : {}) }
}

/** In every round, one agent instructs and the other solves, with the tools it called in between. */
function runOfRounds(value: unknown, where: string): LoggedRun {
  const question = textOf(at(value, 'question'))
  const speeches = roundsIn(value).flatMap((round, index): Speech[] => {
    const instruction = asText(at(round, 'user'))
    const isQuestion = index === 0 && question === undefined
    const calls = listOf(at(round, 'tool_calls')).map((call, number) => ({
      id: textOf(at(call, 'tool_call_id')) ?? `${index}/${number}`,
      tool: asText(at(call, 'tool_name')),
      input: parsedOr(at(call, 'args')),
      result: at(call, 'result'),
    }))
    const results = calls
      .filter(({ result }) => result !== undefined && result !== null)
      .map(({ id, tool, result }) => ({ id, tool, output: asText(result) }))
    return [
      isQuestion
        ? { agent: 'user', text: instruction, role: 'user' }
        : {
            agent: 'user',
            text: instruction,
            ...(/TASK_DONE/.test(instruction) ? {} : { said: { as: 'task', text: instruction } }),
          },
      ...(calls.length === 0
        ? []
        : [
            { agent: 'assistant', text: '', calls },
            { agent: 'assistant', text: '', results },
          ]),
      { agent: 'assistant', text: asText(at(round, 'assistant')) },
    ]
  })
  const { items, leftOut, answer } = itemsOfSpeeches(speeches, 'history')
  const id = at(value, 'task_id')
  const gold = asText(at(value, 'ground_truth'))
  const given = asText(at(value, 'model_answer')) || answer
  return {
    where,
    source: [value],
    ...(typeof id === 'string' || typeof id === 'number' ? { id: String(id) } : {}),
    ...(question === undefined ? {} : { question }),
    ...(gold === '' ? {} : { gold: [gold] }),
    ...(given === undefined ? {} : { answer: given }),
    items: given === answer ? items : items.filter(({ type }) => type !== 'answered'),
    leftOut,
  }
}
