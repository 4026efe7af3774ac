import type { LogFormat, LoggedItem, LoggedRun, LogRecord, Unreadable } from '../contract.ts'
import { withHandOffs } from '../hand-offs.ts'
import { asText, at, isObject, listOf, parsedOr, textOf, timeOf } from '../json.ts'
import { readCrewMessages } from '../messages/crewai.ts'
import { itemsOfCalls, itemsOfTurns, type ModelCall } from '../model-calls.ts'
import { pythonValue } from '../python-literal.ts'
import { type ToolRun, withToolRuns } from '../tool-runs.ts'

/** Runs of CrewAI: the output of a crew, its log file (`output_log_file`), or events of its bus, one per line. */
export const crewai: LogFormat = {
  name: 'crewai',
  title: 'CrewAI: outputs of crews, log files and events',
  matches: (value) => isOutput(value) || isEvent(value) || isEntry(value) || listOf(value).some(isEntry),
  takes: isOtherEvent,
  read: readAll,
  markup: /\b(?:Thought|Action|Action Input|Observation|Final Answer):/g,
}

const isOutput = (value: unknown): boolean =>
  Array.isArray(at(value, 'tasks_output')) && typeof at(value, 'raw') === 'string'

const isEvent = (value: unknown): boolean =>
  isObject(value) &&
  /^(?:crew_kickoff|task|agent_execution|llm_call|llm_stream|llm_thinking|tool_usage)_\w+$/.test(
    asText(value['type']),
  ) &&
  ('timestamp' in value || 'event_id' in value)

/** Events of other kinds, about flows, memories and the like. */
function isOtherEvent(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value['type'] === 'string' &&
    'source_fingerprint' in value &&
    ('timestamp' in value || 'event_id' in value)
  )
}

/** An entry of a log file. */
const isEntry = (value: unknown): boolean =>
  isObject(value) &&
  ['task', 'agent'].every((key) => key in value) &&
  /^(?:started|completed)$/.test(asText(value['status']))

async function* readAll(records: AsyncIterable<LogRecord>): AsyncGenerator<LoggedRun | Unreadable> {
  const byFile = new Map<string, { where: string; values: unknown[] }>()
  for await (const { value, where } of records) {
    if (isOutput(value)) yield runOfOutput(value, where)
    else if (listOf(value).some(isEntry))
      for (const run of runsIn(listOf(value))) yield runOfEntries(run, where)
    else if (isEvent(value) || isEntry(value) || isOtherEvent(value)) {
      const file = where.replace(/[:#]\d+$/, '')
      const lines = byFile.get(file) ?? { where, values: [] }
      byFile.set(file, lines)
      lines.values.push(value)
    } else yield { where, problem: 'it is no output, entry or event of CrewAI' }
  }
  for (const { where, values } of byFile.values()) {
    if (values.some(isEntry)) for (const run of runsIn(values)) yield runOfEntries(run, where)
    else for (const run of kickoffsIn(values)) yield runOfEvents(run, where)
  }
}

/** Tasks run one after another; the question is all of them, and the answer the output of the last. */
function runOfOutput(value: unknown, where: string): LoggedRun {
  const tasks = listOf(at(value, 'tasks_output'))
  const items = tasks.flatMap((task) => {
    const agent = asText(at(task, 'agent')) || 'agent'
    const messages = readCrewMessages(listOf(at(task, 'messages')))
    return messages.length > 0
      ? itemsOfTurns(messages, agent)
      : itemsOfTask(agent, at(task, 'description'), at(task, 'raw'))
  })
  return {
    where,
    source: [value],
    question: tasks.map((task) => asText(at(task, 'description'))).join('\n\n'),
    ...withHandOffs(items),
    answer: asText(at(value, 'raw')),
  }
}

function itemsOfTask(agent: string, task: unknown, output: unknown): LoggedItem[] {
  return [
    { type: 'prompted', agent, messages: [{ role: 'user', content: asText(task) }] },
    ...(asText(output) === '' ? [] : [{ type: 'wrote', agent, text: asText(output) } as const]),
  ]
}

/** A log file has an entry when a task starts and one when it is completed. */
function runOfEntries(entries: readonly unknown[], where: string): LoggedRun {
  const started = entries.filter((entry) => at(entry, 'status') === 'started')
  const tasks = started.length > 0 ? started : entries
  const items = entries.flatMap((entry): LoggedItem[] => {
    const agent = asText(at(entry, 'agent')) || 'agent'
    const [prompt, ...output] = itemsOfTask(agent, at(entry, 'task'), at(entry, 'output'))
    if (at(entry, 'status') === 'started') return [prompt!]
    return started.length > 0 ? output : [prompt!, ...output]
  })
  const answer = asText(
    at(
      entries.findLast((entry) => at(entry, 'status') === 'completed'),
      'output',
    ),
  )
  return {
    where,
    source: entries,
    question: tasks.map((entry) => asText(at(entry, 'task'))).join('\n\n'),
    items,
    ...(answer === '' ? {} : { answer }),
  }
}

/** CrewAI adds to its log file: a task that is started again after it was completed is one of the next run. */
function runsIn(entries: readonly unknown[]): unknown[][] {
  const runs: unknown[][] = [[]]
  const completed = new Set<string>()
  for (const entry of entries) {
    const task = `${asText(at(entry, 'task_name'))}\0${asText(at(entry, 'task'))}`
    const isDone = at(entry, 'status') === 'completed'
    if (completed.has(task)) {
      runs.push([])
      completed.clear()
    }
    if (isDone) completed.add(task)
    runs.at(-1)!.push(entry)
  }
  return runs
}

/** A file may have several runs of the crew, one after another. */
function kickoffsIn(events: readonly unknown[]): unknown[][] {
  const runs: unknown[][] = [[]]
  for (const event of events) {
    const isStart = at(event, 'type') === 'crew_kickoff_started'
    if (isStart && runs.at(-1)!.some((one) => at(one, 'type') === 'crew_kickoff_started')) runs.push([])
    runs.at(-1)!.push(event)
  }
  return runs
}

/** Tools behind which a coworker works, whose own calls are in the log. */
const COWORKER = /^(?:delegate[ _]work|ask[ _]question)[ _]to[ _]coworker$/i

function runOfEvents(events: readonly unknown[], where: string): LoggedRun {
  const ofType = (type: string): unknown[] => events.filter((event) => at(event, 'type') === type)
  const calls = [...ofType('llm_call_completed'), ...ofType('llm_call_failed')]
    .map((event) => modelCallOf(event, events))
    .sort((one, other) => (one.at ?? 0) - (other.at ?? 0))
  const runs = [...ofType('tool_usage_finished'), ...ofType('tool_usage_error')].map(toolRunOf)
  const merged = withToolRuns(itemsOfCalls(calls), runs)
  const isTeam = new Set(calls.map(({ agent }) => agent)).size > 1
  const tasks = ofType('task_started').map((event) =>
    asText(at(event, 'task', 'description') ?? at(event, 'task_description')),
  )
  const question = tasks.filter((task) => task !== '').join('\n\n')
  const output = ofType('crew_kickoff_completed').map((event) => at(event, 'output'))[0]
  const answer = asText(at(output, 'raw') ?? output)
  return {
    where,
    source: events,
    ...(question === '' ? {} : { question }),
    ...withHandOffs(merged, ({ tool, input }) =>
      isTeam && COWORKER.test(tool) ? (textOf(at(input, 'coworker')) ?? tool) : undefined,
    ),
    ...(answer === '' ? {} : { answer }),
  }
}

/** Messages may be only in the event that started the call. */
function modelCallOf(event: unknown, events: readonly unknown[]): ModelCall {
  const start = events.find(
    (other) => at(other, 'event_id') !== undefined && at(other, 'event_id') === at(event, 'started_event_id'),
  )
  const messages = at(event, 'messages') ?? at(start, 'messages')
  const time = timeOf(at(start, 'timestamp') ?? at(event, 'timestamp'))
  const response = at(event, 'response')
  const error = textOf(at(event, 'error'))
  const written = typeof response === 'string' ? { role: 'assistant', content: response } : outputOf(response)
  const sent =
    typeof messages === 'string' ? [{ role: 'user', content: messages }] : listOf(messages).map(withCalls)
  const before = readCrewMessages(sent)
  const turns = written === undefined ? before : readCrewMessages([...sent, written])
  return {
    agent: asText(at(event, 'agent_role') ?? at(start, 'agent_role')) || 'agent',
    messages: before,
    output: turns.slice(before.length),
    ...(time === undefined ? {} : { at: time }),
    ...(error === undefined ? {} : { error }),
  }
}

/** Native calls come as a list. */
function outputOf(response: unknown): unknown {
  if (Array.isArray(response)) return withCalls({ role: 'assistant', content: null, tool_calls: response })
  return isObject(response) ? { role: 'assistant', ...response } : undefined
}

/** What is deep within an event is printed as Python does, such as `"name": "'search'"`. */
function withCalls(message: unknown): unknown {
  const calls = listOf(at(message, 'tool_calls'))
  if (!isObject(message) || calls.length === 0) return message
  const unprinted = (value: unknown): unknown =>
    typeof value === 'string' && /^\s*['"{]/.test(value) ? (pythonValue(value) ?? value) : value
  return {
    ...message,
    tool_calls: calls.map((printed) => {
      const call = unprinted(printed)
      const called = unprinted(at(call, 'function'))
      if (!isObject(call) || !isObject(called)) return call
      const [name, input] = [unprinted(called['name']), called['arguments']]
      const isPrinted = typeof input === 'string' && input.startsWith("'")
      return { ...call, function: { name, arguments: isPrinted ? unprinted(input) : input } }
    }),
  }
}

function toolRunOf(event: unknown): ToolRun {
  const output = at(event, 'output') ?? at(event, 'error')
  const end = timeOf(at(event, 'finished_at') ?? at(event, 'timestamp')) ?? 0
  return {
    agent: asText(at(event, 'agent_role')) || 'agent',
    tool: asText(at(event, 'tool_name')),
    input: parsedOr(at(event, 'tool_args')),
    ...(output === undefined ? {} : { output: asText(output) }),
    ok: at(event, 'type') !== 'tool_usage_error',
    start: timeOf(at(event, 'started_at')) ?? end,
    end,
  }
}
