import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { run, solveAsTeam, teamOf } from '../../src/stages/teach/index.ts'
import { createRun } from '../../src/store/index.ts'
import { startOpenAiServer } from '../../src/testing/openai-server.ts'
import { tinyModel } from '../sft/support.ts'
import { Place, taskOf } from './teams.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-agent-models-'))
let place: Place
beforeAll(async () => {
  place = await Place.open()
}, 60_000)
afterAll(async () => {
  await place.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Every agent finds what it should write in it. */
const everything =
  '<facts>f</facts><plan>p</plan><task for="coder">t</task><call>print(1)</call><report>r</report><reflection>r</reflection>' +
  '<suggestion>1</suggestion><answer>1</answer>'

const teacherOf = (teacher: object, teach: object = {}) =>
  ProjectConfig.parse({ teach: { mind: 'model', max_steps: 1, ...teach }, teacher })

it('sends each agent to its own model, with its own settings', async () => {
  const one = await startOpenAiServer([everything])
  const other = await startOpenAiServer([everything])
  const config = teacherOf({
    base_url: one.baseUrl,
    model: 'large',
    max_tokens: 500,
    agents: {
      critic: { base_url: other.baseUrl, model: 'small', temperature: 0 },
      coder: { temperature: 0.2 },
    },
  })
  try {
    const { events } = await solveAsTeam(
      taskOf('math', 1),
      await teamOf(config),
      1,
      place.around(taskOf('math', 1)),
    )
    const wrote = events.flatMap((event) => (event.type === 'wrote' ? [event.agent] : []))
    const asked = (server: typeof one) =>
      server.requests.map(({ body }) => [body['model'], body['temperature'], body['max_tokens']])
    expect(wrote.join()).toBe('manager,manager,manager,coder,coder,critic,manager,manager')
    const [lead, coder] = [
      ['large', 0.7, 500],
      ['large', 0.2, 500],
    ]
    expect(asked(one)).toEqual([lead, lead, lead, coder, coder, lead, lead])
    expect(asked(other)).toEqual([['small', 0, 500]])
  } finally {
    await one.close()
    await other.close()
  }
})

it('runs one agent on a folder while the others are behind an API', { timeout: 60_000 }, async () => {
  const server = await startOpenAiServer([everything])
  const model = await tinyModel(folder, 16_000)
  const config = teacherOf({
    base_url: server.baseUrl,
    model: 'large',
    agents: { critic: { model, max_tokens: 16 } },
  })
  try {
    const team = await teamOf(config)
    const { events } = await solveAsTeam(taskOf('math', 1), team, 1, place.around(taskOf('math', 1)))
    await team.close?.()
    expect(events.filter(({ type }) => type === 'failed')).toEqual([])
    expect(server.requests).toHaveLength(7)
  } finally {
    await server.close()
  }
})

it('refuses a team without a model, a model that is nowhere, and guidance through an API', async () => {
  await expect(teamOf(teacherOf({}))).rejects.toThrow('the team has no model')
  await expect(teamOf(teacherOf({ model: 'qwen3' }))).rejects.toThrow('"qwen3" is not a model folder')
  const api = { base_url: 'http://localhost:1/v1', model: 'large' }
  await expect(teamOf(teacherOf({ ...api, agents: { critic: { model: 'small' } } }))).rejects.toThrow(
    '[teacher.agents.critic] has no base_url',
  )
  await expect(teamOf(teacherOf(api, { constrained: true }))).rejects.toThrow('behind an API')
})

it('stops at the first correct attempt, and says which it was', { timeout: 60_000 }, async () => {
  using made = createRun(folder, { id: 'until', command: 'test', coa: '0' })
  const tasks = [0, 1, 2, 3].map((index) => taskOf('search', index))
  for (const task of tasks) made.append('task', task)
  const config = ProjectConfig.parse({
    teach: { mind: 'erring', runs: 6, until_correct: true, dials: { slip: 0.5 } },
    sandbox: { driver: 'pyodide' },
    tools: { cache: '' },
  })
  const around = { run: made, signal: new AbortController().signal, observe: () => {} }
  await run(config, around)
  const attempts = tasks.map(({ id }) => [...made.scan('trajectory')].filter(({ taskId }) => taskId === id))
  for (const all of attempts) {
    expect(all.map(({ meta }) => meta['attempt'])).toEqual(all.map((_, at) => at + 1))
    const correct = all.map(({ verdict }) => verdict?.outcome === 'correct')
    expect(correct.indexOf(true)).toBe(all.length < 6 ? all.length - 1 : correct.lastIndexOf(true))
  }
  expect(attempts.some((all) => all.length > 1)).toBe(true)
  const before = made.count('trajectory')
  await run({ ...config, teach: { ...config.teach, runs: 6 } }, around)
  expect([...made.scan('trajectory')].filter(({ meta }) => meta['attempt'] === 1)).toHaveLength(4)
  expect(made.count('trajectory')).toBe(before)
})
