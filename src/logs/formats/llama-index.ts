import type { ChatCall, ChatTurn } from '../chat-turn.ts'
import type { LogFormat, LoggedRun, LogRecord, Unreadable } from '../contract.ts'
import { withHandOffs } from '../hand-offs.ts'
import { asJson, asText, at, idOf, isObject, type JsonObject, listOf, textOf } from '../json.ts'
import { fromLlamaIndex } from '../messages/llama-index.ts'
import { isOpenAiMessage, readOpenAiMessage } from '../messages/openai.ts'
import { itemsOfCalls, type ModelCall } from '../model-calls.ts'
import { isReact, readReact } from '../text/react-text.ts'
import { type ToolRun, withToolRuns } from '../tool-runs.ts'

/**
 * Events of LlamaIndex's agent workflows, one on each line or in a list, as their fields, with the name of their class
 * beside `data` or `value`. (Chat memories are read as OpenAI chats.)
 */
export const llamaIndex: LogFormat = {
  name: 'llama-index',
  title: 'Events of LlamaIndex agent workflows',
  matches: (value) => eventOf(value) !== undefined,
  read,
  markup:
    /\b(?:Thought|Action|Action Input|Answer):|\bAgent(?:Input|Output|Setup|Stream)\b|\bToolCall(?:Result)?\b/g,
}

type Event =
  | { kind: 'input' | 'output'; agent: string; data: JsonObject }
  | { kind: 'result'; data: JsonObject }
  | { kind: 'other' }

function eventOf(value: unknown): Event | undefined {
  const data = [at(value, 'data'), at(value, 'value'), value].find(isObject)
  if (data === undefined) return undefined
  if ('tool_kwargs' in data && 'tool_output' in data) return { kind: 'result', data }
  if ('tool_kwargs' in data && 'tool_id' in data) return { kind: 'other' }
  const agent = textOf(data['current_agent_name'])
  if (agent === undefined) return undefined
  if ('delta' in data) return { kind: 'other' }
  if (isObject(data['response']) && Array.isArray(data['tool_calls'])) return { kind: 'output', agent, data }
  return Array.isArray(data['input']) ? { kind: 'input', agent, data } : undefined
}

const isStop = (value: unknown): boolean =>
  /^(?:Stop|Start|AgentWorkflowStart)Event$/.test(asText(at(value, 'type'))) || isObject(at(value, 'result'))

async function* read(records: AsyncIterable<LogRecord>): AsyncGenerator<LoggedRun | Unreadable> {
  const files = new Map<string, { where: string; values: unknown[] }>()
  for await (const { value, where } of records) {
    const file = where.replace(/[:#]\d+$/, '')
    const stream = files.get(file) ?? { where, values: [] }
    files.set(file, stream)
    if (eventOf(value) !== undefined) stream.values.push(value)
    else if (!isStop(value)) yield { where, problem: 'it is no event of an agent workflow' }
  }
  for (const { where, values } of files.values()) for (const run of runsIn(values)) yield runOf(run, where)
}

/** After an agent has answered, the next that is asked belongs to another run. */
function runsIn(values: readonly unknown[]): unknown[][] {
  const runs: unknown[][] = [[]]
  let isOver = false
  for (const value of values) {
    const event = eventOf(value)!
    if (isOver && event.kind === 'input') runs.push([])
    if (event.kind === 'input') isOver = false
    if (event.kind === 'output') isOver = outputOf(event.data).every(({ calls }) => calls.length === 0)
    runs.at(-1)!.push(value)
  }
  return runs
}

function runOf(values: readonly unknown[], where: string): LoggedRun {
  const calls: ModelCall[] = []
  const runs: ToolRun[] = []
  let sent: readonly ChatTurn[] = []
  let agent = 'assistant'
  for (const [time, value] of values.entries()) {
    const event = eventOf(value)!
    if (event.kind === 'input') sent = listOf(event.data['input']).flatMap(turnOf)
    else if (event.kind === 'output') {
      agent = event.agent
      calls.push({ agent, messages: sent, output: outputOf(event.data), at: time })
      sent = []
    } else if (event.kind === 'result') runs.push(runOfTool(event.data, agent, time))
  }
  const { items, leftOut, tools } = withHandOffs(withToolRuns(itemsOfCalls(calls), runs))
  const last = calls.at(-1)?.output.at(-1)
  const ends = last !== undefined && last.calls.length === 0 && last.text !== ''
  return { where, items, leftOut, tools, source: values, ...(ends ? { answer: last.text } : {}) }
}

function turnOf(message: unknown): ChatTurn[] {
  const usual = fromLlamaIndex(message)
  return isOpenAiMessage(usual) ? [readOpenAiMessage(usual)] : []
}

/** Agents that reason in text have their calls apart from it. */
function outputOf(data: JsonObject): ChatTurn[] {
  const calls = listOf(data['tool_calls']).map(callOf)
  return turnOf(data['response']).map((turn) => {
    const own = turn.calls.length > 0 ? turn.calls : calls
    if (turn.calls.length > 0 || !isReact(`Action:\n${turn.text}`)) return { ...turn, calls: own }
    const { pieces } = readReact(turn.text)
    const words = (kind: string): string =>
      pieces.flatMap((piece) => (piece.kind === kind && 'text' in piece ? piece.text : [])).join('\n')
    const [thought, answer] = [words('thought'), words('answer')]
    return own.length > 0 || answer === ''
      ? { ...turn, text: thought === '' ? turn.text : thought, calls: own }
      : { ...turn, text: answer, ...(thought === '' ? {} : { thought }) }
  })
}

function callOf(call: unknown): ChatCall {
  const id = idOf(at(call, 'tool_id'))
  const tool = asText(at(call, 'tool_name'))
  return { ...(id === undefined ? {} : { id }), tool, input: asJson(at(call, 'tool_kwargs')) }
}

function runOfTool(data: JsonObject, agent: string, time: number): ToolRun {
  const { id, tool, input } = callOf(data)
  const output = data['tool_output']
  const texts = listOf(at(output, 'blocks')).flatMap((block) => textOf(at(block, 'text')) ?? [])
  return {
    agent,
    tool,
    input,
    output: texts.length > 0 ? texts.join('\n') : asText(at(output, 'content') ?? output),
    ...(id === undefined ? {} : { call: id }),
    ...(at(output, 'is_error') === true ? { ok: false } : {}),
    start: time,
    end: time,
  }
}
