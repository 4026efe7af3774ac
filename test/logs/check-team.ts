import fc from 'fast-check'
import { expect } from 'vitest'
import {
  type LogFormat,
  type LoggedRun,
  recordsIn,
  toTrajectory,
  type Unreadable,
} from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import { expectConserved } from './conserved.ts'
import { type TeamCall, type TeamRun, teamRun } from './random-team.ts'
import { type Layout, written } from './span-layouts.ts'
import type { SpanWriter } from './span-writers.ts'

export interface Convention {
  write: SpanWriter
  layouts: readonly Layout[]
  /** Whether it has a place for thoughts. */
  thoughts?: boolean
  /** How many conventions of this format are checked: its 10,000 teams are divided among them. */
  of?: number
  /** Whether agents have names; else they are told apart by their system prompts. */
  named?: boolean
}

/** What goes in comes out: random teams, written in a convention with their spans in any order. */
export async function checkConvention(
  format: LogFormat,
  { write, layouts, thoughts = false, named = true, of = 1 }: Convention,
): Promise<void> {
  const order = fc.array(fc.nat(1000), { minLength: 8, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(teamRun({ thoughts }), order, fc.constantFrom(...layouts), async (run, keys, layout) => {
      const spans = run.spans
        .map((span, index) => ({ span, key: (keys[index % keys.length]! * (index + 7)) % 101 }))
        .sort((one, other) => one.key - other.key)
      const values = layout(
        written(
          spans.map(({ span }) => span),
          write,
        ),
      )
      checkRun(run, await readOne(format, values), { named, markup: format.markup })
    }),
    { numRuns: howMany(Math.ceil(10_000 / of)) },
  )
}

/** Everything that a format reads in some values, each recognized on its own. */
export async function readAll(
  format: LogFormat,
  values: readonly unknown[],
): Promise<(LoggedRun | Unreadable)[]> {
  await expectConserved(format, values)
  async function* records() {
    for (const [index, value] of values.entries()) {
      const found = recordsIn({ value, where: `log:${index + 1}` })
      expect(found.format?.name).toBe(format.name)
      yield* found.records
    }
  }
  const found: (LoggedRun | Unreadable)[] = []
  for await (const one of format.read(records())) found.push(one)
  return found
}

async function readOne(format: LogFormat, values: readonly unknown[]): Promise<LoggedRun> {
  const found = await readAll(format, values)
  expect(found).toHaveLength(1)
  const [run] = found
  if (run === undefined || 'problem' in run) throw new Error(JSON.stringify(run))
  return run
}

function checkRun(
  team: TeamRun,
  run: LoggedRun,
  { named, markup }: { named: boolean; markup: RegExp | undefined },
): void {
  const head = { id: 'run', taskId: 'task', team: 'team', markup }
  const { events, question, answer, meta } = toTrajectory(run, head)
  // Who is who: by name, or by the prompt.
  const names = new Map<string, string>()
  for (const item of run.items)
    if (item.type === 'prompted')
      for (const { role, content } of item.messages) if (role === 'system') names.set(content, item.agent)
  const nameOf = ({ agent, system }: { agent: string; system: string }): string =>
    named ? agent : (names.get(system) ?? 'nobody')
  if (!named) expect(new Set(names.values()).size).toBe(names.size)

  const wrote = run.items.flatMap((item) =>
    item.type === 'wrote' ? [`${item.agent}: ${item.thought ?? ''} / ${item.text}`] : [],
  )
  expect(wrote.sort()).toEqual(team.wrote.map((one) => `${nameOf(one)}: ${one.thought} / ${one.text}`).sort())

  // An agent behind a tool is handed the work; its reply is in its own words.
  const isHandedOver = ({ input }: TeamRun['called'][number]): boolean =>
    delegations(team).some((call) => call.input === input)
  const sent = events.flatMap((event) => (event.type === 'sent' ? [event.text] : []))
  expect(sent.sort()).toEqual(
    delegations(team)
      .map(({ input }) => input)
      .sort(),
  )
  const byParent = new Map(events.map((event) => [`${event.type} ${event.parent}`, event]))
  const called = events.flatMap((event) => {
    if (event.type !== 'tool-called') return []
    const result = byParent.get(`tool-answered ${event.id}`)
    const output = result?.type === 'tool-answered' ? result.output : undefined
    return [`${event.agent}: ${event.tool} ${JSON.stringify(event.input)} -> ${output}`]
  })
  const expected = team.called
    .filter((one) => !isHandedOver(one))
    .map((one) => `${nameOf(one)}: ${one.tool} ${JSON.stringify({ query: one.input })} -> ${one.output}`)
  expect(called.sort()).toEqual(expected.sort())
  expect(events.filter(({ type }) => type === 'tool-answered')).toHaveLength(called.length)

  expect(question).toBe(team.question)
  if (team.answer !== undefined) expect(answer).toBe(team.answer)
  const prompts = new Set(
    events.flatMap((event) =>
      event.type === 'activated' ? event.messages.map(({ content }) => content) : [],
    ),
  )
  for (const prompt of [...team.prompts, team.question]) expect(prompts).toContain(prompt)
  const leftOut = (meta['leftOut'] ?? []) as { reason: string }[]
  expect(leftOut.filter(({ reason }) => !reason.includes('handed over'))).toEqual([])
  checkOrder(
    team,
    events.map((event) => JSON.stringify(event)),
  )
}

/** What an agent says comes after what it was told: a call's input before its output, and a sub-agent between them. */
function checkOrder(team: TeamRun, events: readonly string[]): void {
  const placeOf = (word: string, type: string): number =>
    events.findIndex((event) => event.includes(`"${type}"`) && event.includes(word))
  for (const { input, output } of delegations(team)) {
    const said = placeOf(output, 'wrote')
    if (said >= 0) expect(placeOf(input, 'sent')).toBeLessThan(said)
  }
  const spoken = team.wrote.flatMap(({ text, thought }) =>
    text === '' ? (thought === '' ? [] : [thought]) : [text],
  )
  const places = spoken.map((word) => placeOf(word, 'wrote'))
  expect(places).toEqual([...places].sort((one, other) => one - other))
}

/** Calls of tools behind which an agent has called its model. */
function delegations({ spans }: TeamRun): TeamCall[] {
  const parents = new Map(spans.map(({ id, parent }) => [id, parent]))
  const isIn = (id: string | undefined, outer: string): boolean =>
    id !== undefined && (id === outer || isIn(parents.get(id), outer))
  return spans.flatMap(({ id, call }) =>
    call !== undefined && spans.some((one) => one.kind === 'model' && isIn(one.id, id)) ? [call] : [],
  )
}
