import { parseJson, type Trajectory, type TrajectoryEvent } from '../../schema/index.ts'

export interface ChatMessage {
  role: string
  content: string
}

/** What the messages themselves do not contain. */
export interface ChatHead extends Pick<Trajectory, 'id' | 'taskId' | 'team'> {
  question: string
  meta?: Trajectory['meta']
}

/**
 * Turns a chat between one agent and its tools, in ChatML with `<think>`, `<tool_call>`, `<tool_response>` and `<answer>`, into a
 * trajectory. `messages` are the turns after the question. A message that cannot be parsed becomes a failure at the boundary
 * `import`, which distillation reports as a problem.
 *
 * @example
 * import { trajectoryFromChat } from 'chain-of-agents'
 *
 * const messages = [{ role: 'assistant', content: '<think>17 + 4 is 21.</think><answer>21</answer>' }]
 * const head = { id: 'chat-1', taskId: 'sum', team: 'imported', question: 'What is 17 + 4?' }
 * console.log(trajectoryFromChat(messages, head).answer)
 */
export function trajectoryFromChat(messages: readonly ChatMessage[], head: ChatHead): Trajectory {
  const log = new Log()
  let waiting: Called[] = []
  for (const [index, { role, content }] of messages.entries()) {
    if (role === 'assistant') {
      const activated = log.add({ type: 'activated', agent: AGENT, parent: log.last, messages: [] })
      waiting = readTurn(log, activated, content)
    } else if (content.includes('<tool_response>')) {
      const output = between(content, 'tool_response') ?? ''
      const call = waiting.shift()
      if (call === undefined) log.fail(`message ${index} answers no call`)
      else
        log.add({ type: 'tool-answered', agent: AGENT, parent: call.id, tool: call.tool, output, ok: true })
    }
  }
  const { id, taskId, team, question, meta = {} } = head
  const answer = log.events.findLast((event) => event.type === 'answered')?.text
  return {
    v: 1,
    id,
    taskId,
    team,
    question,
    events: log.events,
    ...(answer === undefined ? {} : { answer }),
    meta,
  }
}

const AGENT = 'assistant'

interface Called {
  id: string
  tool: string
}

/** One turn: a thought, then calls or the answer. */
function readTurn(log: Log, parent: string, text: string): Called[] {
  const thought = between(text, 'think') ?? ''
  const rest = text.includes('</think>') ? text.slice(text.indexOf('</think>')) : text
  const answer = between(rest, 'answer')
  const bodies = [...rest.matchAll(/<tool_call>([\s\S]*?)<\/tool_call>/g)].map(([, body]) => body!)
  const said =
    answer === undefined
      ? { as: 'call' as const, text: bodies.join('\n').trim() }
      : { as: 'answer' as const, text: answer }
  const wrote = log.add({ type: 'wrote', agent: AGENT, parent, text, thought: thought.trim(), said })
  if (answer !== undefined) {
    log.add({ type: 'answered', agent: AGENT, parent: wrote, text: answer })
    return []
  }
  return bodies.flatMap((body) => {
    const call = readCall(body)
    if (call === undefined) {
      log.fail(`a tool call is not JSON with name and arguments: ${body.trim().slice(0, 80)}`)
      return []
    }
    const id = log.add({
      type: 'tool-called',
      agent: AGENT,
      parent: wrote,
      tool: call.tool,
      input: call.input,
    })
    return [{ id, tool: call.tool }]
  })
}

function readCall(body: string): { tool: string; input: never } | undefined {
  try {
    const { name, arguments: input } = parseJson(body) as { name?: unknown; arguments?: unknown }
    return typeof name === 'string' && input !== undefined ? { tool: name, input: input as never } : undefined
  } catch {
    return undefined
  }
}

/** The text between the first opening and the last closing tag: tool output may contain tags of its own. */
function between(text: string, tag: string): string | undefined {
  const start = text.indexOf(`<${tag}>`)
  const end = tag === 'think' ? text.indexOf(`</${tag}>`) : text.lastIndexOf(`</${tag}>`)
  return start === -1 || end < start ? undefined : text.slice(start + tag.length + 2, end).trim()
}

type EventInput = TrajectoryEvent extends infer Each
  ? Each extends TrajectoryEvent
    ? Omit<Each, 'id' | 't'>
    : never
  : never

/** These conversations have no timestamps, only the order of the messages. */
class Log {
  readonly events: TrajectoryEvent[] = []

  get last(): string | null {
    return this.events.at(-1)?.id ?? null
  }

  add(event: EventInput): string {
    const id = `e${this.events.length + 1}`
    this.events.push({ ...event, id, t: this.events.length } as TrajectoryEvent)
    return id
  }

  fail(message: string): void {
    this.add({ type: 'failed', agent: AGENT, parent: null, boundary: 'import', message })
  }
}
