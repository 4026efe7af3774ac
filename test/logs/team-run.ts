import fc from 'fast-check'
import { expect } from 'vitest'
import {
  type LogFormat,
  type LoggedRun,
  type LogRecord,
  recordsIn,
  toTrajectory,
} from '../../src/logs/index.ts'
import type { Trajectory } from '../../src/schema/index.ts'
import { expectConserved } from './conserved.ts'

/** A run of a team in which every text is unique, so that it can be found again wherever it ends up. */
export interface TeamRun {
  question: string
  agents: readonly Agent[]
  turns: readonly TeamTurn[]
}

export interface Agent {
  name: string
  system: string
  /** What it is told before it begins. */
  task: string
}

export interface TeamTurn {
  agent: Agent
  text: string
  thought: string
  calls: readonly TeamCall[]
  /** It hands work to this agent and does nothing else. */
  handsTo: TeamCall | undefined
}

export interface TeamCall {
  id: string
  tool: string
  input: { query: string; limit: number }
  /** Undefined if it never returned. */
  output: string | undefined
  ok: boolean
}

/** Characters that have to be escaped in JSON, in Python or in both, or that formats use themselves. */
const ends = [
  '',
  " isn't",
  ' "quoted"',
  ' a\\b',
  '\nnext line',
  ' {"a": 1}',
  ' [x]',
  ' ümläut ✓',
  ' =)',
  ': yes',
  '\'"',
]

const plan = fc.record({
  steps: fc.array(
    fc.record({
      agent: fc.nat(2),
      thinks: fc.boolean(),
      speaks: fc.boolean(),
      calls: fc.array(
        fc.record({
          tool: fc.constantFrom('search', 'read_page', 'calculator'),
          returns: fc.nat(5),
          ok: fc.nat(4),
          again: fc.nat(3),
        }),
        { maxLength: 3 },
      ),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  end: fc.nat(2),
  ends: fc.array(fc.constantFrom(...ends), { minLength: 7, maxLength: 7 }),
})

export interface Shape {
  /** A change of agents is always a hand-off by a tool. */
  handsOff: boolean
  names?: readonly string[]
  /** Some calls are equal, so that only their ids tell which result is whose. */
  repeats?: boolean
}

/** The last turn is the answer. */
export function teamRun({
  handsOff,
  names = ['planner', 'researcher', 'writer'],
  repeats = false,
}: Shape): fc.Arbitrary<TeamRun> {
  return plan.map(({ steps, end, ends: endings }) => {
    let count = 0
    const text = (kind: string): string => `${kind}${++count}x${endings[count % endings.length]!}`
    const agents = names.map((name) => ({ name, system: text('system'), task: text('task') }))
    const call = (tool: string, output: string | undefined, ok = true): TeamCall => ({
      id: `call_${++count}`,
      tool,
      input: { query: text('query'), limit: count },
      output,
      ok,
    })
    const turns: TeamTurn[] = []
    let latest: TeamCall | undefined
    const isLast = (agent: Agent): boolean => turns.at(-1)?.agent === agent || turns.length === 0
    const push = (agent: Agent, turn: Omit<TeamTurn, 'agent' | 'handsTo'>): void => {
      if (handsOff && !isLast(agent)) {
        const handsTo = call(`transfer_to_${agent.name}`, `Successfully transferred to ${agent.name}`)
        turns.push({ agent: turns.at(-1)!.agent, text: '', thought: '', calls: [], handsTo })
      }
      turns.push({ ...turn, agent, handsTo: undefined })
    }
    for (const { agent, thinks, speaks, calls } of steps) {
      const first = handsOff && turns.length === 0 ? agents[0]! : agents[agent]!
      push(first, {
        text: speaks || calls.length === 0 ? text('words') : '',
        thought: thinks ? text('thought') : '',
        calls: calls.map(({ tool, returns, ok, again }) => {
          const made = call(tool, returns === 0 ? undefined : text('output'), ok > 0)
          const earlier = repeats && again === 0 ? latest : undefined
          latest = earlier === undefined ? made : { ...made, tool: earlier.tool, input: earlier.input }
          return latest
        }),
      })
    }
    push(agents[end]!, { text: text('answer'), thought: '', calls: [] })
    return { question: text('question'), agents, turns }
  })
}

/** One message of the run's conversation, for writing it in a format. */
export type TeamMessage =
  | { role: 'system' | 'user'; text: string }
  | { role: 'assistant'; turn: TeamTurn; calls: readonly TeamCall[] }
  | { role: 'tool'; call: TeamCall; output: string }

export const callsOf = (turn: TeamTurn): readonly TeamCall[] =>
  turn.handsTo === undefined ? turn.calls : [turn.handsTo]

/** What a turn adds to the conversation: its message, then the results. */
export function messagesOfTurn(turn: TeamTurn): TeamMessage[] {
  const calls = callsOf(turn)
  const results = calls.flatMap((call): TeamMessage[] =>
    call.output === undefined ? [] : [{ role: 'tool', call, output: call.output }],
  )
  return [{ role: 'assistant', turn, calls }, ...results]
}

/** What the model was sent for each turn: the whole conversation so far, or only what its own agent has seen. */
export function promptsOf({ question, turns }: TeamRun, shared: boolean): TeamMessage[][] {
  const first = turns[0]!.agent
  return turns.map(({ agent }, index) => {
    const before = turns.slice(0, index).filter((turn) => shared || turn.agent === agent)
    const asked = shared || agent === first ? question : agent.task
    return [
      { role: 'system', text: agent.system },
      { role: 'user', text: asked },
      ...before.flatMap(messagesOfTurn),
    ]
  })
}

/** Values in an order that the log's format does not promise. */
export const shuffled = <T>(values: readonly T[]): fc.Arbitrary<T[]> =>
  fc.shuffledSubarray([...values], { minLength: values.length })

export async function readWith(format: LogFormat, values: readonly unknown[]): Promise<LoggedRun[]> {
  await expectConserved(format, values)
  const records: LogRecord[] = values.flatMap((value, index) => {
    const read = recordsIn({ value, where: `log.jsonl:${index + 1}` })
    expect(read.format?.name).toBe(format.name)
    return read.records
  })
  const runs: LoggedRun[] = []
  for await (const run of format.read(
    (async function* () {
      yield* records
    })(),
  )) {
    if ('problem' in run) throw new Error(run.problem)
    runs.push(run)
  }
  return runs
}

export async function trajectoryOf(format: LogFormat, values: readonly unknown[]): Promise<Trajectory> {
  const runs = await readWith(format, values)
  expect(runs).toHaveLength(1)
  return toTrajectory(runs[0]!, { id: 'run', taskId: 'task', team: format.name, markup: format.markup })
}

export interface Expected {
  /** Whether the log says which agent wrote what. */
  agents?: boolean
  thoughts?: boolean
  /** Whether the log has system prompts and tasks. */
  prompts?: boolean
}

/** Everything that was said is in one event of the right kind, by the right agent, and each result is at its call. */
export function expectRun(
  { question, turns }: TeamRun,
  { events, question: asked, answer, meta }: Trajectory,
  { agents = true, thoughts = true, prompts = true }: Expected = {},
): void {
  const only = <T>(found: readonly T[]): T => {
    expect(found).toHaveLength(1)
    return found[0]!
  }
  const written = events.filter((event) => event.type === 'wrote')
  const called = events.filter((event) => event.type === 'tool-called')
  const returned = events.filter((event) => event.type === 'tool-answered')
  const sent = events.filter((event) => event.type === 'sent')
  expect(asked).toBe(question)
  expect(answer).toBe(turns.at(-1)!.text)
  expect(written.map(({ text }) => text)).toEqual(turns.map(({ text }) => text))
  if (agents) expect(written.map(({ agent }) => agent)).toEqual(turns.map(({ agent }) => agent.name))
  for (const [index, { thought }] of turns.entries())
    if (thoughts && thought !== '') expect(written[index]!.thought).toContain(thought)
  const calls = turns.flatMap((turn) => turn.calls.map((call) => ({ call, turn })))
  expect(called).toHaveLength(calls.length)
  expect(returned).toHaveLength(calls.filter(({ call }) => call.output !== undefined).length)
  for (const [index, { call, turn }] of calls.entries()) {
    const event = called[index]!
    expect(event).toMatchObject({ tool: call.tool, input: call.input })
    if (agents) expect(event.agent).toBe(turn.agent.name)
    const result = returned.filter(({ parent }) => parent === event.id)
    if (call.output === undefined) expect(result).toEqual([])
    else
      expect(only(result)).toMatchObject({
        tool: call.tool,
        output: call.output,
        ok: call.ok,
        agent: event.agent,
      })
  }
  const handed = turns.flatMap(({ handsTo }) => handsTo ?? [])
  expect(sent.map(({ to, text }) => [`transfer_to_${to}`, text])).toEqual(
    handed.map(({ tool, input }) => [tool, `${input.query}\n${input.limit}`]),
  )
  if (prompts) {
    const told = events
      .flatMap((event) => (event.type === 'activated' ? event.messages : []))
      .map(({ content }) => content)
    for (const agent of new Set(turns.map((turn) => turn.agent))) expect(told).toContain(agent.system)
  }
  const leftOut = (meta['leftOut'] ?? []) as { reason: string; text: string }[]
  expect(leftOut.filter(({ text }) => !text.startsWith('Successfully transferred'))).toEqual([])
}
