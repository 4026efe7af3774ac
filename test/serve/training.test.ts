import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { streamText } from '../../src/schema/index.ts'
import { run as distill } from '../../src/stages/distill/index.ts'
import { run as filter } from '../../src/stages/filter/index.ts'
import { practiceTasks } from '../../src/stages/rl/practice-tasks.ts'
import { servedTasks } from '../../src/stages/rl/served-tasks.ts'
import { createRun, type Run, readSelection } from '../../src/store/index.ts'
import { callOf, writes } from '../rollout/fixtures.ts'
import { startTestServer, stopServers, type TestServer } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-served-'))
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(stopServers)

const quiet = { signal: new AbortController().signal, observe: () => {} }
const config = ProjectConfig.parse({ filter: { against: [], near_duplicates: false } })
const newRun = (): Run => createRun(folder, { command: 'coa serve --record', coa: '0.0.0' })

/** A chain in the order that the grammar demands. */
const write = writes((observations) =>
  observations === 0
    ? `<plan>Run a program.</plan><think>Compute it.</think>${callOf('print(2 + 3)')}`
    : '<reflection>The sum is small enough to check by hand.</reflection><think>Done.</think><answer>\\boxed{5}</answer>',
)

async function ask(server: TestServer, question: string, feedback?: object): Promise<void> {
  const response = await server.chat({ messages: [{ role: 'user', content: question }] })
  const { id } = (await response.json()) as { id: string }
  if (feedback === undefined) return
  expect((await server.post('/v1/feedback', { id, ...feedback })).status).toBe(200)
}

it('chains marked good become sequences, which the filter keeps as they are', async () => {
  using run = newRun()
  const server = await startTestServer({ run, write })
  await ask(server, 'What is 2 + 3?')
  await expect(distill(config, { run, ...quiet })).rejects.toThrow(/none of its 1 rollouts is marked good/)
  await ask(server, 'What is 1 + 4?', { verdict: 'good' })
  await ask(server, 'What is 4 + 1?', { verdict: { outcome: 'correct' } })
  await ask(server, 'What is 5 + 0?', { verdict: 'bad' })
  const { figures } = await distill(config, { run, ...quiet })
  expect(figures).toMatchObject({ sequences: 2, 'from marked rollouts': 2 })
  await filter(config, { run, ...quiet })
  const kept = [...readSelection(run)].map(({ sequence }) => sequence)
  expect(kept.map(({ prompt }) => prompt.at(-1)!.content)).toEqual(['What is 1 + 4?', 'What is 4 + 1?'])
  for (const sequence of kept) {
    const rollout = run.get('rollout', sequence.id)!
    expect(streamText(sequence)).toBe(streamText(rollout))
    expect(
      sequence.spans.some(({ tokens, logprobs }) => tokens !== undefined || logprobs !== undefined),
    ).toBe(false)
    expect(sequence.provenance).toEqual({ origin: 'rollout', sawGold: false })
    expect(sequence.meta['suite']).toBe('serve')
  }
  expect(kept.map(({ verdict }) => verdict?.outcome)).toEqual([undefined, 'correct'])
  expect((await distill(config, { run, ...quiet })).figures).toMatchObject({
    sequences: 0,
    'already distilled': 2,
  })
})

it('RL takes the questions with an answer, and samples its own rollouts', async () => {
  using run = newRun()
  expect(() => servedTasks(run)).toThrow(/has no served chains/)
  const held = { v: 1 as const, suite: 'm', domain: 'math', gold: { checker: 'math' as const, answer: '9' } }
  run.append('task', { ...held, id: 'measured', question: 'What is 3 * 3?', meta: { for: 'eval' } })
  run.append('task', { ...held, id: 'tested', question: 'What is 9 * 1?', split: 'test' })
  const server = await startTestServer({ run, write })
  for (const question of ['What is 2 + 3?', 'What is 3 * 3?', 'What is 9 * 1?']) await ask(server, question)
  expect(() => servedTasks(run)).toThrow(/none of the 1 questions .* has an answer/)
  await ask(server, 'What is 1 + 4?', { verdict: 'bad', answer: '5' })
  await ask(server, 'What is 4 + 1?', { verdict: { outcome: 'correct' } })
  await ask(server, 'What is 5 + 0?', { verdict: 'good' })
  const served = servedTasks(run)
  expect(served.map(({ question, gold }) => [question, gold])).toEqual([
    ['What is 1 + 4?', { checker: 'math', answer: '5' }],
    ['What is 4 + 1?', { checker: 'math', answer: '5' }],
  ])
  const before = run.count('task')
  for (let time = 0; time < 2; time++) {
    const { tasks, fromSettings } = await practiceTasks(run, config, { served })
    expect(tasks.map(({ id, meta }) => [id, meta['for']])).toEqual(served.map(({ id }) => [`${id}+rl`, 'rl']))
    expect(fromSettings).toBe(false)
    expect(run.count('task')).toBe(before + 2)
  }
  // As when training resumes.
  expect((await practiceTasks(run, config)).tasks).toHaveLength(2)
  expect(servedTasks(run)).toEqual(served)
  using another = newRun()
  const copied = await practiceTasks(another, config, { served })
  expect(copied.tasks.map(({ id }) => id)).toEqual(served.map(({ id }) => id))
  expect(another.count('task')).toBe(2)
})
