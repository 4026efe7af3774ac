import { idOf, isFromPython, lineOf, sessionOf } from '../claude-lines.ts'
import type {
  LeftOut,
  LogFormat,
  LoggedItem,
  LoggedRun,
  LoggedTool,
  LogRecord,
  Unreadable,
} from '../contract.ts'
import { type Called, withHandOffs } from '../hand-offs.ts'
import { asText, at, isObject, listOf, textOf } from '../json.ts'
import { anthropicTools, readAnthropicMessage } from '../messages/anthropic.ts'
import { itemsOfChat } from '../one-chat.ts'
import { unread } from '../unread.ts'

/**
 * Messages of the Claude Agent SDK, as `query()` yields them, and the session files of Claude Code. Every line is a message of a
 * session, and the messages of a helper say which call asked for them, or at least that they are on the side.
 */
export const claudeAgent: LogFormat = {
  name: 'claude-agent',
  title: 'Messages of the Claude Agent SDK, session files of Claude Code',
  matches: (value) => isMessage(lineOf(value)),
  takes: (value) => sessionOf(value) !== undefined || at(value, 'leafUuid') !== undefined,
  read: readSessions,
}

function isMessage(value: unknown): boolean {
  const type = at(value, 'type')
  if (type === 'user' || type === 'assistant')
    return at(value, 'message', 'role') === type && (idOf(value) !== undefined || isFromPython(value))
  const isEnd = (type === 'system' || type === 'result') && textOf(at(value, 'subtype')) !== undefined
  return isEnd && sessionOf(value) !== undefined && idOf(value) !== undefined
}

async function* readSessions(records: AsyncIterable<LogRecord>): AsyncGenerator<LoggedRun | Unreadable> {
  const sessions = new Map<string, { where: string; lines: unknown[] }>()
  let latest: string | undefined
  const early: unknown[] = []
  for await (const { value, where } of records) {
    const line = lineOf(value)
    const id = sessionOf(line) ?? latest
    // A title may come before the first message.
    if (id === undefined) early.push(line)
    else {
      const session = sessions.get(id) ?? { where, lines: early.splice(0) }
      sessions.set(id, session)
      session.lines.push(line)
      latest = id
    }
  }
  for (const [id, { where, lines }] of sessions) {
    const messages = lines.filter((line) => isMessage(line) && at(line, 'type') !== 'system')
    const run = readSession(messages)
    if (run.items.length === 0) {
      yield { where, problem: 'the session has no messages' }
      continue
    }
    const others = lines.filter((line) => !messages.includes(line))
    const leftOut = [...(run.leftOut ?? []), ...keptForItself(others)]
    yield {
      ...run,
      id,
      where,
      tools: toolsIn(others),
      leftOut,
      source: messages.map((line) => withoutMachinery(line)),
    }
    if (!run.items.some(({ type }) => type === 'prompted')) yield { where, problem: NO_QUESTION }
  }
}

const NO_QUESTION =
  'the log does not say what was asked, because query() does not repeat its prompt: put it before the answers, as a line {"type": "UserMessage", "content": "…", "parent_tool_use_id": null}'

/** Claude Code also notes what it sends to the API, what changed on disk, and more that nobody says. */
function keptForItself(lines: readonly unknown[]): LeftOut[] {
  const byType = new Map<string, Set<string>>()
  for (const line of lines) {
    const type = asText(at(line, 'type')) || 'line'
    const texts = byType.get(type) ?? new Set()
    byType.set(type, texts)
    for (const { text } of unread([withoutMachinery(line)], [])) texts.add(text)
  }
  return [...byType]
    .filter(([, texts]) => texts.size > 0)
    .map(([type, texts]) => ({
      at: type,
      reason: 'kept by the program for itself',
      text: [...texts].join('\n'),
    }))
}

/** What the agents were offered is attached to the session. */
const toolsIn = (lines: readonly unknown[]): LoggedTool[] =>
  lines.flatMap((line) =>
    anthropicTools(listOf(at(line, 'attachment', 'tools')).map((tool) => at(tool, 'schema'))),
  )

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
    if (id !== '' && seen.has(id)) continue
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
  ...['cwd', 'version', 'gitBranch', 'userType', 'timestamp', 'model', 'slug', 'permissionMode', 'promptId'],
  ...['origin', 'turnOrigin', 'signature', 'model_usage', 'modelUsage', 'resolvedModel'],
])

/** A line without what says where and with what the agent ran. */
function withoutMachinery(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutMachinery(one, depth + 1))
  if (!isObject(value) || depth > 3) return value
  const kept = Object.entries(value).filter(([key]) => !machinery.has(key))
  return Object.fromEntries(
    kept.map(([key, inner]) => [
      key,
      /^(?:message|content|tool_?use_?result)$/i.test(key) ? withoutMachinery(inner, depth + 1) : inner,
    ]),
  )
}
