import type { LogFormat, LoggedItem, LoggedRun, LogRecord, Unreadable } from '../contract.ts'
import { type Called, withHandOffs } from '../hand-offs.ts'
import { asText, at, isObject, textOf } from '../json.ts'
import { readAnthropicMessage } from '../messages/anthropic.ts'
import { itemsOfChat } from '../one-chat.ts'

/**
 * Messages of the Claude Agent SDK, as `query()` yields them, and the session files of Claude Code. Every line is a message of a
 * session, and the messages of a helper say which call asked for them, or at least that they are on the side.
 */
export const claudeAgent: LogFormat = {
  name: 'claude-agent',
  title: 'Messages of the Claude Agent SDK, session files of Claude Code',
  matches: isMessage,
  takes: (value) => sessionOf(value) !== undefined || at(value, 'leafUuid') !== undefined,
  read: readSessions,
}

const sessionOf = (value: unknown): string | undefined =>
  textOf(at(value, 'session_id')) ?? textOf(at(value, 'sessionId'))

const idOf = (value: unknown): string | undefined => textOf(at(value, 'uuid'))

function isMessage(value: unknown): boolean {
  const type = at(value, 'type')
  const isTurn = type === at(value, 'message', 'role') && (type === 'user' || type === 'assistant')
  const isEnd = (type === 'system' || type === 'result') && textOf(at(value, 'subtype')) !== undefined
  return sessionOf(value) !== undefined && idOf(value) !== undefined && (isTurn || isEnd)
}

async function* readSessions(records: AsyncIterable<LogRecord>): AsyncGenerator<LoggedRun | Unreadable> {
  const sessions = new Map<string, { where: string; lines: unknown[] }>()
  let latest: string | undefined
  const early: unknown[] = []
  for await (const { value, where } of records) {
    const id = sessionOf(value) ?? latest
    // A title may come before the first message.
    if (id === undefined) early.push(value)
    else {
      const session = sessions.get(id) ?? { where, lines: early.splice(0) }
      sessions.set(id, session)
      session.lines.push(value)
      latest = id
    }
  }
  for (const [id, { where, lines }] of sessions) {
    const run = readSession(lines)
    if (run.items.length > 0) yield { ...run, id, where, source: lines.map(withoutMachinery) }
    else yield { where, problem: 'the session has no messages' }
  }
}

/** A helper's work: all lines of the same call, or of the same conversation on the side. */
interface Thread {
  call: string | undefined
  lines: unknown[]
}

function readSession(lines: readonly unknown[]): Pick<LoggedRun, 'items' | 'leftOut' | 'answer'> {
  const { main, helpers } = threadsOf(lines)
  const open = new Set(helpers)
  const names = new Map<Called, string>()
  const itemsOf = (thread: readonly unknown[], agent: string): LoggedItem[] =>
    itemsOfLines(thread, agent).flatMap((item): LoggedItem[] => {
      const helper = item.type === 'called' ? [...open].find((one) => isAskedBy(item, one)) : undefined
      if (item.type !== 'called' || helper === undefined) return [item]
      open.delete(helper)
      const name = textOf(at(item.input, 'subagent_type')) ?? 'helper'
      names.set(item, name)
      return [item, ...itemsOf(helper.lines, name)]
    })
  const own = itemsOf(main, 'assistant')
  // Helpers that nobody is known to have asked come last, so that nothing is lost.
  const rest = [...open].flatMap(({ lines: alone }) => itemsOf(alone, 'helper'))
  const { items, leftOut } = withHandOffs([...own, ...rest], (call) => names.get(call))
  const end = lines.findLast((line) => at(line, 'type') === 'result')
  const result = textOf(at(end, 'result'))
  const failed: LoggedItem[] =
    end === undefined || at(end, 'subtype') === 'success'
      ? []
      : [{ type: 'failed', agent: 'assistant', message: asText(at(end, 'subtype')) }]
  const answer = failed.length > 0 ? undefined : (result ?? lastWords(own))
  return { items: [...items, ...failed], leftOut, ...(answer === undefined ? {} : { answer }) }
}

/** What the agent said last, if it did nothing after that. */
function lastWords(items: readonly LoggedItem[]): string | undefined {
  const last = items.at(-1)
  return last?.type === 'wrote' && last.text !== '' ? last.text : undefined
}

/** The conversation with the user, and those with helpers. What is in a file twice, as after a session was resumed, counts once. */
function threadsOf(lines: readonly unknown[]): { main: unknown[]; helpers: Thread[] } {
  const main: unknown[] = []
  const helpers = new Map<string, Thread>()
  const roots = new Map<string, string>()
  const seen = new Set<string>()
  for (const line of lines) {
    const id = idOf(line) ?? ''
    if (!isMessage(line) || seen.has(id)) continue
    seen.add(id)
    const call = textOf(at(line, 'parent_tool_use_id'))
    const parent = textOf(at(line, 'parentUuid'))
    const isAside = at(line, 'isSidechain') === true
    if (isAside) roots.set(id, roots.get(parent ?? '') ?? textOf(at(line, 'agentId')) ?? id)
    const key = call ?? roots.get(id)
    if (key === undefined) main.push(line)
    else {
      const thread = helpers.get(key) ?? { call, lines: [] }
      helpers.set(key, thread)
      thread.lines.push(line)
    }
  }
  return { main, helpers: [...helpers.values()] }
}

/** By the call's id, or because what it asks is what the helper was told first. */
function isAskedBy({ call, input }: Called, { call: asked, lines }: Thread): boolean {
  if (asked !== undefined) return asked === call
  const [first] = lines.flatMap(turnsOf)
  return first !== undefined && first.text !== '' && first.text === at(input, 'prompt')
}

function itemsOfLines(lines: readonly unknown[], agent: string): LoggedItem[] {
  const turns = joined(lines).flatMap(turnsOf)
  return itemsOfChat(turns.map((turn) => (turn.role === 'assistant' ? { ...turn, agent } : turn))).items.map(
    (item) => (item.type === 'prompted' || item.type === 'returned' ? { ...item, agent } : item),
  )
}

/** Each block of a reply may be a line of its own. */
function joined(lines: readonly unknown[]): unknown[] {
  const whole: unknown[] = []
  for (const line of lines) {
    const last = whole.at(-1)
    const id = textOf(at(line, 'message', 'id'))
    const [before, more] = [at(last, 'message', 'content'), at(line, 'message', 'content')]
    const isMore = id !== undefined && id === at(last, 'message', 'id')
    if (isMore && isObject(last) && Array.isArray(before) && Array.isArray(more)) {
      const message = { ...(last['message'] as object), content: [...before, ...more] }
      whole[whole.length - 1] = { ...last, message }
    } else whole.push(line)
  }
  return whole
}

/** What Claude Code itself tells the model, such as reminders, is no user's. */
function turnsOf(line: unknown) {
  if (at(line, 'message') === undefined) return []
  const turns = readAnthropicMessage(at(line, 'message'))
  return at(line, 'isMeta') === true ? turns.map((turn) => ({ ...turn, role: 'system' as const })) : turns
}

const machinery = new Set([
  ...['uuid', 'parentUuid', 'logicalParentUuid', 'leafUuid', 'session_id', 'sessionId', 'requestId'],
  ...[
    'cwd',
    'version',
    'gitBranch',
    'userType',
    'timestamp',
    'model',
    'slug',
    'permissionMode',
    'apiKeySource',
  ],
  ...['tools', 'slash_commands', 'output_style', 'signature'],
])

/** A line without what says where and with what the agent ran. */
function withoutMachinery(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutMachinery(one, depth + 1))
  if (!isObject(value) || depth > 3) return value
  const kept = Object.entries(value).filter(([key]) => !machinery.has(key))
  return Object.fromEntries(
    kept.map(([key, inner]) => [
      key,
      key === 'message' || key === 'content' ? withoutMachinery(inner, depth + 1) : inner,
    ]),
  )
}
