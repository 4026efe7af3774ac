import type { ChatTurn } from '../chat-turn.ts'
import {
  eachRecord,
  type LeftOut,
  type LogFormat,
  type LoggedRun,
  type LogRecord,
  type Unreadable,
} from '../contract.ts'
import { bareOutput, executionIn, executorMarkup, programIn } from '../executed-code.ts'
import { asText, at, isObject, listOf, parsedOr, textOf } from '../json.ts'
import { isMagenticRole, speechesOfMagentic } from '../magentic-one.ts'
import { contentText, readOpenAiMessage } from '../messages/openai.ts'
import { itemsOfSpeeches, type Speech } from '../speeches.ts'

/**
 * Histories of AutoGen 0.2 and AG2 0.x teams: a list of messages, alone or under a key, and benchmarks made of them. The
 * speaker is in `name`; roles only say from whose view the history was written.
 */
export const ag2: LogFormat = {
  name: 'ag2',
  title: 'Chat histories of AutoGen 0.2 and AG2 teams, also as in Who&When and MAST',
  matches: (value) => isReceipt(value) || isTeam(historyOf(value)),
  // In a file of histories, one in which a single agent spoke is a history, too.
  takes: (value) => isOtherLine(value) || isTeam(historyOf(value), 1),
  read: readAll,
  markup: executorMarkup,
}

const KEYS = ['history', 'chat_history', 'trajectory', 'messages', 'conversation']

/** A line of the runtime log: an agent has received a message. */
const isReceipt = (value: unknown): boolean =>
  at(value, 'event_name') === 'received_message' && typeof at(value, 'json_state') === 'string'

/** Other lines of the runtime log, whose words are also in messages. */
function isOtherLine(value: unknown): boolean {
  return isObject(value) && ('event_name' in value || 'invocation_id' in value) && 'thread_id' in value
}

async function* readAll(records: AsyncIterable<LogRecord>): AsyncGenerator<LoggedRun | Unreadable> {
  const files = new Map<string, { where: string; messages: unknown[] }>()
  async function* histories(): AsyncGenerator<LogRecord> {
    for await (const record of records) {
      const { value, where } = record
      const file = where.replace(/[:#]\d+$/, '')
      if (isReceipt(value)) {
        const found = files.get(file) ?? { where, messages: [] }
        files.set(file, found)
        addReceived(value, found.messages)
      } else if (!files.has(file) || !isOtherLine(value)) yield record
    }
    for (const { where, messages } of files.values()) yield { where, value: messages }
  }
  yield* eachRecord(readTeam)(histories())
}

/** What somebody says to a group is received by each of its members. */
function addReceived(line: unknown, messages: unknown[]): void {
  const state = parsedOr(at(line, 'json_state'))
  const said = at(state, 'message')
  const fields = isObject(said) ? said : { content: asText(said) }
  const message = { role: 'user', ...fields, name: asText(at(state, 'sender')) }
  const before = messages.at(-1)
  const isSame =
    JSON.stringify([at(before, 'content'), at(before, 'tool_calls')]) ===
    JSON.stringify([at(message, 'content'), at(message, 'tool_calls')])
  if (before === undefined || !isSame) messages.push(message)
}

function historyOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  const named = KEYS.map((key) => listOf(at(value, key))).find((list) => list.length > 0)
  if (named !== undefined) return named
  // `agent.chat_messages` has a history for each partner; a group's is the longest.
  const lists = isObject(value) ? Object.values(value).map(listOf) : []
  return lists.every((list) => isTeam(list))
    ? (lists.sort((left, right) => right.length - left.length)[0] ?? [])
    : []
}

/** Whether every message that somebody says has its speaker's name, and how many speakers there are. */
function isTeam(messages: readonly unknown[], leastSpeakers = 2): boolean {
  const spoken = messages.filter(
    (message) => textOf(at(message, 'content')) !== undefined || isLines(message),
  )
  const said = spoken.filter((message) => at(message, 'role') !== 'system' && !isStructured(message))
  if (said.length === 0 || !messages.every(isMessage)) return false
  if (messages.some((message) => isMagenticRole(asText(at(message, 'role'))))) return true
  const names = said.map((message) => textOf(at(message, 'name')))
  return names.every((name) => name !== undefined) && new Set(names).size >= leastSpeakers
}

function isMessage(message: unknown): boolean {
  const content = at(message, 'content')
  const isContent = content === null || typeof content === 'string' || Array.isArray(content)
  return typeof at(message, 'role') === 'string' && (isContent || isStructured(message))
}

const isLines = (message: unknown): boolean => Array.isArray(at(message, 'content'))

const isStructured = (message: unknown): boolean =>
  ['tool_calls', 'function_call', 'tool_responses'].some((key) => at(message, key) !== undefined) ||
  ['tool', 'function'].includes(asText(at(message, 'role')))

function readTeam(value: unknown): Omit<LoggedRun, 'where' | 'source'> {
  const history = historyOf(value)
  const isMagentic = history.some((message) => isMagenticRole(asText(at(message, 'role'))))
  const team = isMagentic
    ? speechesOfMagentic(history.map(labeled))
    : { speeches: speechesOf(history, value), leftOut: [] }
  const { items, leftOut, answer } = itemsOfSpeeches(team.speeches, 'history')
  const stated = answerOf(value) ?? ('answer' in team ? team.answer : undefined)
  const given = stated ?? answer
  return {
    ...headOf(value),
    ...(given === undefined ? {} : { answer: given }),
    items: stated === undefined ? items : items.filter(({ type }) => type !== 'answered'),
    leftOut: [...team.leftOut, ...leftOut, ...labelsOf(value)],
  }
}

const labeled = (message: unknown): { role: string; content: string } => ({
  role: asText(at(message, 'role')),
  content: contentText(at(message, 'content')),
})

/** People, and the proxies that speak for them: what they say is a task or a reply, never the team's own words. */
const PERSON = /^(?:user|human|admin|customer)$|prox(?:y|ies)|proxyagent/i

function speechesOf(history: readonly unknown[], value: unknown): Speech[] {
  const prompts = at(value, 'system_prompt')
  const introduced = new Set<string>()
  const speeches: Speech[] = []
  let asked = false
  for (const message of history) {
    const turn = readOpenAiMessage(message)
    const agent = turn.name ?? (turn.role === 'tool' ? 'tools' : authorOf(history))
    const prompt = textOf(at(prompts, agent))
    if (prompt !== undefined && !introduced.has(agent)) {
      introduced.add(agent)
      speeches.push({ agent, text: prompt, role: 'system' })
    }
    speeches.push({ ...partsOf(turn, agent), ...speakerOf(turn, agent, asked, speeches.at(-1)) })
    asked ||= turn.role !== 'system' && agent !== MANAGER
  }
  return speeches
}

const MANAGER = 'chat_manager'

/** Who wrote a call: its name is missing there. The only agent that is no person, or any of several. */
function authorOf(history: readonly unknown[]): string {
  const names = new Set(
    history.flatMap((message) => (isStructured(message) ? [] : (textOf(at(message, 'name')) ?? []))),
  )
  const agents = [...names].filter((name) => !PERSON.test(name) && name !== MANAGER)
  return agents.length === 1 ? agents[0]! : 'assistant'
}

function partsOf({ text, thought, calls, results }: ChatTurn, agent: string): Speech {
  return {
    agent,
    text,
    ...(thought === undefined ? {} : { thought }),
    ...(calls.length === 0 ? {} : { calls }),
    ...(results.length === 0 ? {} : { results }),
  }
}

/** The first message is the task, whoever sends it. A proxy's reply to a program is its output, else it is a prompt. */
function speakerOf(
  { role, text, calls, results }: ChatTurn,
  agent: string,
  asked: boolean,
  before: Speech | undefined,
): Pick<Speech, 'role' | 'execution'> {
  if (role === 'system' || agent === MANAGER) return { role: 'system' }
  if (calls.length > 0 || results.length > 0) return {}
  if (!asked) return { role: 'user' }
  if (!PERSON.test(agent) || executionIn(text) !== undefined) return {}
  const follows = before !== undefined && before.role === undefined && programIn(before.text) !== undefined
  return follows && !/^\s{0,20}Continue\b/.test(text) ? { execution: bareOutput(text) } : { role: 'user' }
}

/** What benchmarks keep beside a history. */
function headOf(value: unknown): Pick<LoggedRun, 'id' | 'question' | 'gold' | 'correct'> {
  const id = ['question_ID', 'instance_id', 'task_id', 'chat_id', 'id']
    .map((key) => at(value, key))
    .find(isId)
  const question = lines(at(value, 'question') ?? at(value, 'problem_statement'))
  const gold = textOf(at(value, 'ground_truth') ?? at(value, 'other_data', 'answer'))
  const correct = at(value, 'other_data', 'correct') ?? at(value, 'is_correct') ?? at(value, 'is_corrected')
  return {
    ...(id === undefined ? {} : { id: String(id) }),
    ...(question === undefined ? {} : { question }),
    ...(gold === undefined ? {} : { gold: [gold] }),
    ...(typeof correct === 'boolean' ? { correct } : {}),
  }
}

const isId = (id: unknown): id is string | number => typeof id === 'string' || typeof id === 'number'

const lines = (value: unknown): string | undefined =>
  Array.isArray(value) ? value.map(asText).join('\n') : textOf(value)

/** The answer as the log states it: `given` in MAST, `summary` in a chat result. */
function answerOf(value: unknown): string | undefined {
  const stated = textOf(at(value, 'other_data', 'given')) ?? textOf(at(value, 'summary'))
  return stated === undefined || stated.trim() === '' ? undefined : stated.trim()
}

/** Shorter labels are flags, not text. */
const SHORTEST = 12

/** What people wrote about the run afterwards. */
function labelsOf(value: unknown): LeftOut[] {
  const labels = ['mistake_reason', 'mistake_agent', 'mistake_type', 'labels', 'note', 'other_data', '_path']
  return labels
    .flatMap((key) => [...textsIn(at(value, key), key)])
    .map((label) => ({ ...label, reason: 'about the run, not part of it' }))
}

function* textsIn(value: unknown, key: string): Generator<{ at: string; text: string }> {
  if (typeof value === 'string' && value.length >= SHORTEST) yield { at: key, text: value }
  else if (typeof value === 'object' && value !== null)
    for (const [name, child] of Object.entries(value)) yield* textsIn(child, `${key}.${name}`)
}
