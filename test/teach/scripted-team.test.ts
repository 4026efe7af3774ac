import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Trajectory } from '../../src/schema/index.ts'
import {
  carefulDials,
  erringDials,
  scriptedMinds,
  solveAsTeam,
  topologies,
} from '../../src/stages/teach/index.ts'
import { isFull } from '../how-many.ts'
import { Place, suites, taskOf, teamOf } from './teams.ts'

let place: Place
beforeAll(async () => {
  place = await Place.open()
}, 60_000)
afterAll(() => place.close())

const COUNT = 12

describe.each([...topologies.keys()])('a team with topology %s', (topology) => {
  it.each(suites)('solves %s with real tools and records everything', async (suite) => {
    let correct = 0
    for (let index = 0; index < COUNT; index++) {
      const task = taskOf(suite, index)
      const trajectory = await solveAsTeam(
        task,
        teamOf(topology, scriptedMinds(carefulDials)),
        1,
        place.around(task),
      )
      Trajectory.parse(trajectory)
      expectWellRecorded(trajectory)
      if (trajectory.verdict?.outcome === 'correct') correct++
    }
    expect(correct).toBeGreaterThanOrEqual(COUNT - 1)
  })
})

function expectWellRecorded({ events, answer, meta }: Trajectory): void {
  const earlier = new Set<string>()
  for (const event of events) {
    if (event.parent !== null) expect(earlier.has(event.parent), `${event.id} after its cause`).toBe(true)
    earlier.add(event.id)
  }
  expect(events.filter(({ type }) => type === 'failed')).toEqual([])
  const called = events.filter((event) => event.type === 'tool-called')
  expect(called.length).toBe(meta['steps'])
  for (const { id } of called) {
    expect(events.filter((event) => event.type === 'tool-answered' && event.parent === id)).toHaveLength(1)
  }
  const wrote = events.filter((event) => event.type === 'wrote')
  expect(wrote.every((event) => event.usage !== undefined && event.said !== undefined)).toBe(true)
  const sum = wrote.reduce((tokens, { usage }) => tokens + usage!.promptTokens + usage!.completionTokens, 0)
  expect(sum).toBe((meta['promptTokens'] as number) + (meta['completionTokens'] as number))
  expect(events.filter((event) => event.type === 'answered').map((event) => event.text)).toEqual([answer])
  // Prompts are recorded in full: from the system prompt to the reply rules.
  for (const event of events) {
    if (event.type !== 'activated') continue
    expect(event.messages[0]!.role).toBe('system')
    expect(event.messages.at(-1)!.content).toContain('<think>')
  }
}

describe('dials', () => {
  it('make a team worse: it makes mistakes, takes detours, repeats itself, and sometimes recovers', async () => {
    const count = isFull ? 30 : 12
    const metrics = { careful: { correct: 0, calls: 0 }, erring: { correct: 0, calls: 0 } }
    for (const [name, dials] of [
      ['careful', carefulDials],
      ['erring', erringDials],
    ] as const) {
      for (const suite of suites) {
        for (let index = 0; index < count; index++) {
          const task = taskOf(suite, index)
          const trajectory = await solveAsTeam(
            task,
            teamOf('manager', scriptedMinds(dials)),
            5,
            place.around(task),
          )
          metrics[name].correct += trajectory.verdict?.outcome === 'correct' ? 1 : 0
          metrics[name].calls += trajectory.meta['steps'] as number
        }
      }
    }
    expect(metrics.careful.correct).toBeGreaterThanOrEqual(0.94 * count * suites.length)
    expect(metrics.erring.correct).toBeLessThan(metrics.careful.correct)
    expect(metrics.erring.correct).toBeGreaterThan(0.44 * count * suites.length)
    expect(metrics.erring.calls).toBeGreaterThan(metrics.careful.calls)
  })

  it('give the same run for the same seed and different runs for different seeds', async () => {
    const texts = async (seed: number): Promise<string[]> => {
      const task = taskOf('search', 3)
      const { events } = await solveAsTeam(
        task,
        teamOf('manager', scriptedMinds(erringDials)),
        seed,
        place.around(task),
      )
      return events.map(({ t: _time, ...event }) => JSON.stringify(event))
    }
    expect(await texts(1)).toEqual(await texts(1))
    const others = await Promise.all([2, 3, 4, 5].map(texts))
    expect(new Set(others.map((other) => other.join())).size).toBeGreaterThan(1)
  })
})

describe('experts', () => {
  it.each(suites)('know nothing about %s except from tool output', async (suite) => {
    for (let index = 0; index < 5; index++) {
      const task = taskOf(suite, index)
      const silent = place.toolsFor(task).map((tool) => ({
        ...tool,
        cacheable: false,
        execute: async () => ({ text: 'Nothing was found.' }),
      }))
      const trajectory = await solveAsTeam(
        task,
        teamOf('manager', scriptedMinds({ ...carefulDials, slip: 0 }), { steps: 12 }),
        1,
        place.around(task, { tools: silent }),
      )
      // A program can be written without being run; a value cannot be known.
      if (suite !== 'code') expect(trajectory.verdict?.outcome).not.toBe('correct')
    }
  })
})

describe('limits', () => {
  const task = taskOf('search', 6)

  it.each([
    [{ steps: 2 }, 'limit of 2 tool calls'],
    [{ tokens: 5000 }, 'limit of 5000 tokens'],
    [{ wallMs: 0 }, 'time limit of 0 ms'],
    [{ spend: 0.001 }, 'spent the budget of 0.001'],
  ])('of %j end a run without an answer', async (limits, reason) => {
    const trajectory = await solveAsTeam(
      task,
      teamOf('manager', scriptedMinds(carefulDials), limits),
      1,
      place.around(task),
    )
    expect(trajectory.answer).toBeUndefined()
    expect(trajectory.meta['exhausted']).toContain(reason)
    expect(trajectory.verdict?.outcome).toBe('wrong')
  })

  it('an aborted run rejects, so that no partial trajectory is kept', async () => {
    const signal = AbortSignal.abort(new Error('stop'))
    await expect(
      solveAsTeam(task, teamOf('manager', scriptedMinds(carefulDials)), 1, place.around(task, { signal })),
    ).rejects.toThrow('stop')
  })
})
