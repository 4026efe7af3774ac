import fc from 'fast-check'
import { expect } from 'vitest'
import type { LogFormat, LoggedRun } from '../../src/logs/contract.ts'
import { toTrajectory } from '../../src/logs/index.ts'
import type { Trajectory, TrajectoryEvent } from '../../src/schema/index.ts'
import { expectConserved } from './conserved.ts'

/** A run of a team in no particular format. Every text in it is unique, so that it can be found again. */
export interface MadeUpRun {
  question: string
  steps: MadeUpStep[]
  answer: string
}

export type MadeUpStep = { agent: string; thought?: string } & (
  | { kind: 'says'; text: string }
  | { kind: 'calls'; text: string; calls: MadeUpCall[]; order: number[] }
  | { kind: 'runs'; text: string; code: string; executor: string; output?: string }
)

export interface MadeUpCall {
  id: string
  tool: string
  input: { query: string }
  output?: string
}

/** What a format can express. */
interface Abilities {
  agents?: readonly string[]
  thoughts?: boolean
  calls?: boolean
  programs?: boolean
  /** Calls whose result is missing. */
  unanswered?: boolean
  /** Words next to calls. */
  remarks?: boolean
}

/** Runs that use what a format can express. */
export function madeUpRun(able: Abilities): fc.Arbitrary<MadeUpRun> {
  const { agents = ['Coder_A', 'Critic_B', 'Searcher_C'] } = able
  const agent = fc.constantFrom(...agents)
  const bit = fc.boolean()
  const says = fc.record({ kind: fc.constant('says' as const), agent, thought: bit })
  const calls = fc.record({
    kind: fc.constant('calls' as const),
    agent,
    thought: bit,
    remark: bit,
    answered: fc.array(bit, { minLength: 1, maxLength: 3 }),
    order: fc.shuffledSubarray([0, 1, 2], { minLength: 3 }),
  })
  const runs = fc.record({
    kind: fc.constant('runs' as const),
    agent,
    thought: bit,
    executor: agent,
    answered: bit,
  })
  const kinds = [says, ...(able.calls === true ? [calls] : []), ...(able.programs === true ? [runs] : [])]
  return fc.array(fc.oneof(...kinds), { maxLength: 6 }).map((plans) => {
    const words = new Words()
    const question = words.next('asked')
    const steps = plans.map((plan): MadeUpStep => {
      const thought = plan.thought && able.thoughts === true ? { thought: words.next('thought') } : {}
      const head = { agent: plan.agent, ...thought }
      if (plan.kind === 'says') return { ...head, kind: 'says', text: words.next('said') }
      if (plan.kind === 'runs') {
        const text = words.next('remark')
        const code = `print("${words.next('code')}")`
        const output = plan.answered ? { output: words.next('printed') } : {}
        return { ...head, kind: 'runs', text, code, executor: plan.executor, ...output }
      }
      const made = plan.answered.map((answered, index): MadeUpCall => {
        const output = answered || able.unanswered === false ? { output: words.next('output') } : {}
        const id = words.next('id').replaceAll(' ', '_')
        return { id, tool: `tool_${index}`, input: { query: words.next('input') }, ...output }
      })
      const text = plan.remark && able.remarks !== false ? words.next('remark') : ''
      const order = plan.order.filter((index) => index < made.length)
      return { ...head, kind: 'calls', text, calls: made, order }
    })
    return { question, steps, answer: words.next('answer') }
  })
}

class Words {
  #count = 0

  next(kind: string): string {
    const number = String(++this.#count).padStart(4, '0')
    return `${kind} number ${number} of these words`
  }
}

/** The runs that a format reads from values, and nothing unreadable. */
export async function readWith(format: LogFormat, ...values: unknown[]): Promise<LoggedRun[]> {
  await expectConserved(format, values)
  const runs: LoggedRun[] = []
  async function* records(): AsyncGenerator<{ value: unknown; where: string }> {
    for (const [index, value] of values.entries()) yield { value, where: `test:${index + 1}` }
  }
  for await (const run of format.read(records())) {
    if ('problem' in run) throw new Error(run.problem)
    runs.push(run)
  }
  return runs
}

export function trajectoryOf(format: LogFormat, run: LoggedRun): Trajectory {
  return toTrajectory(run, { id: 'run', taskId: 'task', team: format.name, markup: format.markup })
}

type Of<T extends TrajectoryEvent['type']> = Extract<TrajectoryEvent, { type: T }>

/** What was written in a format must be in the events of the right kind, with every result at its call. */
export function expectRead(made: MadeUpRun, { events, question, answer, meta }: Trajectory): void {
  const of = <T extends TrajectoryEvent['type']>(type: T): Of<T>[] =>
    events.filter((event): event is Of<T> => event.type === type)
  expect(question).toContain(made.question)
  expect(answer).toContain(made.answer)
  const lost = JSON.stringify(meta['leftOut'] ?? [])
  for (const step of made.steps) {
    const { agent, thought } = step
    if (step.text !== '') {
      const wrote = of('wrote').filter(({ text }) => text.includes(step.text))
      expect(wrote.map((event) => event.agent)).toEqual([agent])
    }
    if (thought !== undefined)
      expect(of('wrote').filter((event) => event.thought?.includes(thought))).toHaveLength(1)
    const calls =
      step.kind === 'calls'
        ? step.calls.map((call) => ({ input: call.input.query, output: call.output }))
        : step.kind === 'runs'
          ? [{ input: step.code, output: step.output }]
          : []
    for (const { input, output } of calls) {
      const called = of('tool-called').filter((event) =>
        textsOf(event.input).some((text) => text.includes(input)),
      )
      // A program that nobody ran is only text.
      if (step.kind === 'runs' && output === undefined) {
        expect(called).toHaveLength(0)
        continue
      }
      expect(called).toHaveLength(1)
      const results = of('tool-answered').filter(({ parent }) => parent === called[0]!.id)
      expect(results.map((event) => event.output)).toEqual(output === undefined ? [] : [output])
    }
    for (const { output } of calls)
      if (output !== undefined)
        for (const { thought: aside = '', said } of of('wrote'))
          expect(`${aside}\n${said?.text}`).not.toContain(output)
  }
  expect(lost).not.toContain('of these words')
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}
