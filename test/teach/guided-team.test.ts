import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engineModel } from '../../src/agent/index.ts'
import { byteTokenizerWithTags, newModel, shapeOfSizes } from '../../src/engine/index.ts'
import { byteTokenizer } from '../../src/language/tokens/index.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import type { Task, Trajectory } from '../../src/schema/index.ts'
import type { ReplySettings } from '../../src/stages/teach/contract.ts'
import { modelMinds, solveAsTeam, teamOf, topologies } from '../../src/stages/teach/index.ts'
import { scriptedEngine } from '../../src/testing/scripted-engine.ts'
import { teamOf as builtTeam, Place, taskOf } from './teams.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-guided-'))
const random = join(folder, 'random')
let place: Place
beforeAll(async () => {
  place = await Place.open()
  await newModel(random, {
    // A large initializer range, so that the model is not uniform.
    shape: {
      ...shapeOfSizes({ width: 16, layers: 1, heads: 2, keyValueHeads: 1, contextLength: 32_000 }),
      initializerRange: 0.3,
    },
    tokenizer: byteTokenizerWithTags([]),
    seed: 3,
    createdAt: '2026-01-01T00:00:00Z',
  })
}, 60_000)
afterAll(async () => {
  await place.close()
  rmSync(folder, { recursive: true, force: true })
})

const teamOn = (model: string, topology: string, teach: object = {}) =>
  teamOf(
    ProjectConfig.parse({
      teach: { mind: 'model', topology, max_steps: 2, ...teach },
      teacher: { model, max_tokens: 24 },
    }),
  )

describe.each([...topologies.keys()])('a randomly initialized model with topology %s', (topology) => {
  it.each(['math', 'search', 'code'])('makes no format error on %s', { timeout: 120_000 }, async (suite) => {
    const team = await teamOn(random, topology)
    const task = taskOf(suite, 1)
    const { events, meta } = await solveAsTeam(task, team, 1, place.around(task))
    await team.close?.()
    expect(events.filter(({ type }) => type === 'failed')).toEqual([])
    // Two sides that work at the same time may both pass the limit.
    expect(meta['repeats']).toBe(0)
    expect(meta['steps']).toBeGreaterThanOrEqual(1)
    for (const event of events) if (event.type === 'wrote') expect(event.said?.text).toMatch(/\S/)
  })
})

it('fails if the same model is not guided', { timeout: 60_000 }, async () => {
  const team = await teamOn(random, 'pipeline', { constrained: false, replies: 'strict' })
  const { events } = await solveAsTeam(taskOf('math', 1), team, 1, place.around(taskOf('math', 1)))
  await team.close?.()
  expect(events.at(-1)).toMatchObject({ type: 'failed', boundary: 'model' })
})

const tokenizer = byteTokenizer()

/** A team whose model continues a reply with what a function returns. */
async function scripted(
  write: (prefix: string, prompt: string) => string,
  constrained = true,
  { task = taskOf('math', 1), replies = {}, comments = true }: Partial<Scripted> = {},
) {
  const engine = scriptedEngine(tokenizer, (soFar) => {
    const turn = soFar.lastIndexOf('assistant')
    return write(soFar.slice(turn).replace(/^assistant\W*?\n/, ''), soFar.slice(0, turn))
  })
  const model = engineModel('scripted', async () => ({ engine, tokenizer, endTokens: [] }))
  const minds = modelMinds(model, {}, { maxTokens: 200, constrained, comments })
  const team = { ...builtTeam('pipeline', minds, { steps: 3 }), replies }
  return solveAsTeam(task, team, 1, place.around(task))
}

interface Scripted {
  task: Task
  replies: ReplySettings
  comments: boolean
}

/** What a model of few words writes. */
function plainly(prefix: string, prompt: string): string {
  const asked = prompt.slice(prompt.lastIndexOf('Write'))
  if (prefix.endsWith('```python\n')) return 'print(42)\n```'
  if (prefix === 'Task:') return ' Add 40 and 2.\n\nThen tell me.'
  if (prefix === 'Answer:') return ' 42\nI am sure.'
  if (prompt.includes('If the findings answer') && prefix === '') return 'Answer: 42'
  if (asked.startsWith('Write the plan')) return ' Add 40 and 2.\n\n2. Check.'
  return '42\n\nThat is all.'
}

it('chooses between a task and an answer, and takes as much of a reply as was asked for', async () => {
  const { events, answer } = await scripted((prefix, prompt) => plainly(prefix, afterSystem(prompt)))
  const wrote = events.filter((event) => event.type === 'wrote')
  expect(wrote.map(({ said, text }) => [said?.as, said?.text, text])).toEqual([
    ['plan', 'Add 40 and 2.', 'Plan: Add 40 and 2.'],
    ['task', 'Add 40 and 2.', 'Task: Add 40 and 2.'],
    ['call', '```py\nprint(42)\n```', '```python\nprint(42)\n```'],
    ['report', '42', '42'],
    ['reflection', '42', '42'],
    ['suggestion', '42', 'Answer: 42'],
    ['answer', '42', '42'],
  ])
  expect(answer).toBe('42')
  // The accepted suggestion is the answer, without another request.
  expect(wrote.at(-1)?.usage).toEqual({ promptTokens: 0, completionTokens: 0 })
})

it('lets a worker correct a program that failed, after a reflection', async () => {
  let programs = 0
  const { events } = await scripted((prefix, prompt) => {
    if (prefix.endsWith('```python\n')) return programs++ === 0 ? 'print(x)\n```' : 'print(7)\n```'
    return plainly(prefix, afterSystem(prompt))
  })
  const outputs = events.flatMap((event) => (event.type === 'tool-answered' ? [event.output] : []))
  expect(outputs).toEqual([expect.stringContaining('NameError'), '7'])
  const said = events.flatMap((event) => (event.type === 'wrote' ? [event.said?.as] : []))
  expect(said).toEqual([
    'plan',
    'task',
    'call',
    'reflection',
    'call',
    'report',
    'reflection',
    'suggestion',
    'answer',
  ])
})

/** What was written, as what, and by whom, without what costs nothing. */
const sampled = ({ events }: Pick<Trajectory, 'events'>) =>
  events.flatMap((event) =>
    event.type === 'wrote' && event.usage?.promptTokens !== 0 ? [`${event.agent} ${event.said?.as}`] : [],
  )
const programs = ({ events }: Pick<Trajectory, 'events'>) =>
  events.filter(({ type }) => type === 'tool-called')

it('takes the output of a program as its report and as the answer, whatever the model says', async () => {
  const made = await scripted((prefix, prompt) => {
    if (prefix === '' && afterSystem(prompt).includes('If the findings answer')) return 'Answer: 7'
    return plainly(prefix, afterSystem(prompt))
  })
  expect(made.answer).toBe('42')
  expect(sampled(made)).toEqual([
    'planner plan',
    'actor task',
    'coder call',
    'critic reflection',
    'actor suggestion',
  ])
})

it('gives the last program that ran as the answer to a programming task', async () => {
  const code = 'def twice(n):\n    # two of them\n    return 2 * n\n\nassert twice(2) == 4'
  const write = (prefix: string, prompt: string): string =>
    prefix.endsWith('```python\n') ? `${code}\n\`\`\`` : plainly(prefix, afterSystem(prompt))
  const task = taskOf('code', 1)
  const whole = await scripted(write, true, { task })
  expect(whole.answer).toBe(`\`\`\`py\n${code}\n\`\`\``)
  expect(programs(whole)).toHaveLength(1)
  const short = await scripted(write, true, { task, comments: false })
  expect(short.answer).not.toContain('two of them')
  expect(short.answer).toContain('    return 2 * n\nassert')
})

describe('with teach.recheck', () => {
  const replies = { recheck: 1 }
  const withVerifier = (alone: string) => (prefix: string, prompt: string) =>
    prompt.includes('Solve it on your own') ? alone : plainly(prefix, afterSystem(prompt))

  it('accepts an answer that an agent finds alone', async () => {
    const made = await scripted(withVerifier('40 and 2 are 42.\nAnswer: 42 jars\nI am sure.'), true, {
      replies,
    })
    expect(made.answer).toBe('42')
    expect(programs(made)).toHaveLength(1)
    const alone = made.events.find((event) => event.type === 'wrote' && event.agent === 'verifier')
    expect(alone).toMatchObject({ thought: '40 and 2 are 42.', said: { as: 'suggestion', text: '42 jars' } })
  })

  it('works on if it differs, and accepts the answer that comes out twice', async () => {
    const made = await scripted(withVerifier('Perhaps 41.\nAnswer: 41'), true, { replies })
    expect(made.answer).toBe('42')
    expect(programs(made)).toHaveLength(2)
    // The other answer is not told to those who work it out again.
    const prompts = made.events.flatMap((event) => (event.type === 'activated' ? event.messages : []))
    expect(prompts.filter(({ content }) => content.includes('41'))).toEqual([])
  })
})

it.each([
  ['no more calls may be made', (number: number) => ` Step ${number}.`, 3],
  ['it repeats a task', () => ' Add 40 and 2.', 1],
])('asks a leader that only gives tasks for its answer when %s', async (_, task, steps) => {
  let tasks = 0
  const { events, answer, meta } = await scripted((prefix, prompt) => {
    if (prefix === 'Task:') return `${task(tasks++)}\n\n`
    if (prefix === '' && afterSystem(prompt).includes('If the findings answer'))
      return `Task:${task(tasks++).trimEnd()}\n`
    return plainly(prefix, afterSystem(prompt))
  })
  expect(meta['steps']).toBe(steps)
  expect(events.filter((event) => event.type === 'wrote' && event.said?.as === 'suggestion')).toHaveLength(1)
  expect(answer).toBe('42')
})

it('shows examples of replies and tool input, but not to guided models, which copy them', async () => {
  const everything = '<plan>p</plan><task for="coder">t</task><call>print(1)</call><report>r</report>'
  const free = await scripted(() => everything, false)
  const guided = await scripted((prefix, prompt) => plainly(prefix, afterSystem(prompt)))
  const [freely, guidedly] = [free, guided].map(({ events }) =>
    events.flatMap((event) =>
      event.type === 'activated' ? [event.messages.map(({ content }) => content).join('\n')] : [],
    ),
  ) as [string[], string[]]
  expect(freely[0]).toContain('for another question:\n<think>')
  const coderOf = (all: string[]) => all.find((text) => text.includes('You are coder.'))
  for (const all of [freely, guidedly]) expect(coderOf(all)).toContain('Write a complete program with')
  expect(coderOf(freely)).toContain('<call>\n```py\ncrates = 17')
  expect(guidedly.join('\n')).not.toMatch(/for another question|<\w+>/)
})

/** The conversation, without instructions of the agent, which also say what to write. */
function afterSystem(prompt: string): string {
  return prompt.slice(prompt.lastIndexOf('user'))
}
