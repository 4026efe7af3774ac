import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Contribution, Task } from '../../src/schema/index.ts'
import {
  carefulDials,
  modelMinds,
  scriptedMinds,
  solveAsTeam,
  topologies,
} from '../../src/stages/teach/index.ts'
import { type OpenAiServer, type ScriptedReply, startOpenAiServer } from '../../src/testing/openai-server.ts'
import { openModel } from '../../src/world/models/index.ts'
import { Place, taskOf, teamOf } from './teams.ts'

let place: Place
beforeAll(async () => {
  place = await Place.open()
}, 60_000)
afterAll(() => place.close())

/**
 * A server that answers like a model that knows the solution: it reads from the prompt alone what to write, which agent
 * it is, and what the tool returned. `fault` may replace a response.
 */
async function upstream(
  task: Task,
  fault: (index: number) => Partial<ScriptedReply> | undefined,
): Promise<OpenAiServer> {
  const minds = scriptedMinds({ ...carefulDials, slip: 0, detour: 0, repeat: 0, doubt: 0 })(task, 1)
  const answers = new Map<string, Promise<string>>()
  return startOpenAiServer(async (request, index) => {
    const messages = request.body['messages'] as { content: string }[]
    const faulty = fault(index)
    if (faulty !== undefined) return faulty
    // The same prompt again is a retry and gets the same response.
    const key = JSON.stringify(messages)
    answers.set(key, answers.get(key) ?? reply(messages))
    return answers.get(key)!
  })

  async function reply(messages: { content: string }[]): Promise<string> {
    const last = messages.at(-1)!.content
    const rules = last.slice(last.lastIndexOf('Write <think>'))
    const wants = [
      ...rules.matchAll(/<(facts|plan|task|call|report|reflection|suggestion|check|answer)[ >]/g),
    ].map(([, want]) => want as Contribution)
    const name = /^You are \w+_([ab])\./m.exec(messages.map(({ content }) => content).join('\n'))?.[1]
    const observed = /Your tool answered:\n([\s\S]*?)\n\nWrite <think>/.exec(last)?.[1]
    const suggestion = /Suggested answer: ([\s\S]*?)\n\nWrite <think>/.exec(last)?.[1]
    const known = [...messages]
      .reverse()
      .map(({ content }) => /<suggestion>([\s\S]*?)<\/suggestion>/.exec(content)?.[1])
    const agent = { name: '', instructions: '', ...(name === undefined ? {} : { crew: name }) }
    const result = {
      ok: true,
      text: observed ?? '',
      tool: '',
      cached: false,
      attempts: 1,
      ms: 0,
      truncated: false,
      flags: [],
      provenance: {},
      environment: false,
    }
    const written = await minds(agent).write({
      agent,
      wants,
      messages: [],
      observation: result,
      suggestion: suggestion ?? known.find((text) => text !== undefined) ?? '',
      signal: new AbortController().signal,
    })
    return written.text
  }
}

describe.each([...topologies.keys()])('a team of models with topology %s', (topology) => {
  it.each(['math', 'search'])('solves %s although the server fails in every way', async (suite) => {
    const task = taskOf(suite, 2)
    const faults: (Partial<ScriptedReply> | undefined)[] = [
      { status: 429, headers: { 'retry-after': '0' } },
      undefined,
      { status: 500 },
      { hangUp: true },
      { text: 'I think we should look it up.' },
    ]
    const server = await upstream(task, (index) =>
      index < 10 && index % 2 === 1 ? faults[(index - 1) / 2] : undefined,
    )
    try {
      const model = openModel({ baseUrl: server.baseUrl, model: 'teacher', retries: 8 })
      // Strict, because which agent gets the prose depends on timing, and some may reply in prose.
      const team = { ...teamOf(topology, modelMinds(model)), replies: { replies: 'strict' as const } }
      const trajectory = await solveAsTeam(task, team, 1, place.around(task))
      expect(trajectory.events.filter(({ type }) => type === 'failed')).toEqual([])
      expect(trajectory.verdict?.outcome).toBe('correct')
      // Every request is accounted for: one per activation, plus the retries.
      const { activations, retries, repeats } = trajectory.meta as Record<string, number>
      expect(activations! + retries!).toBe(server.requests.length)
      expect(repeats).toBe(1)
      expect(retries).toBe(3)
    } finally {
      await server.close()
    }
  })
})

it('retries a stream that breaks off, and keeps nothing of it', async () => {
  const server = await startOpenAiServer([
    { text: 'A first half that is lost', breakAfter: 2 },
    'The whole answer.',
  ])
  try {
    const pieces: string[] = []
    const model = openModel({ baseUrl: server.baseUrl, model: 'teacher', retries: 2 })
    const { text, attempts } = await model.complete({ prompt: 'Go.', onText: (piece) => pieces.push(piece) })
    expect(text).toBe('The whole answer.')
    expect(attempts).toBe(2)
    expect(pieces.join('')).toContain('The whole answer.')
  } finally {
    await server.close()
  }
})

it('fails the run if the model never follows the format, and records the failure', async () => {
  const server = await startOpenAiServer(['Hello!'])
  try {
    const task = taskOf('math', 0)
    const model = openModel({ baseUrl: server.baseUrl, model: 'teacher' })
    const trajectory = await solveAsTeam(task, teamOf('manager', modelMinds(model)), 1, place.around(task))
    expect(trajectory.events.at(-1)).toMatchObject({ type: 'failed', boundary: 'model' })
    expect(trajectory.answer).toBeUndefined()
  } finally {
    await server.close()
  }
})
