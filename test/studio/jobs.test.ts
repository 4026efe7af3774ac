import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { UsageError } from '../../src/base/errors/index.ts'
import type { JobRow, LiveMessage, Studio } from '../../src/studio/index.ts'
import { smallRun } from './small-run.ts'
import { get, post, send, studioOn, until } from './support.ts'

const runs = mkdtempSync(join(tmpdir(), 'coa-studio-jobs-'))
let studio: Studio

beforeAll(async () => {
  const run = smallRun(runs)
  run.close()
  mkdirSync(join(run.files.checkpoints, 'rl'), { recursive: true })
  writeFileSync(join(run.files.checkpoints, 'rl', 'coa-checkpoint.json'), '{}')
  studio = await studioOn({ runs })
})
afterAll(async () => {
  await studio.stop()
  rmSync(runs, { recursive: true })
})

async function started(body: unknown): Promise<JobRow> {
  const { status, json, text } = await post(studio, '/api/jobs', body)
  if (status !== 200) throw new Error(text)
  return json as JobRow
}

const view = (id: string) => get(studio, 'GET /api/jobs/:id', `/api/jobs/${id}`)
const ended = (id: string) =>
  until(
    () => view(id),
    ({ state }) => state !== 'running' && state !== 'stopping',
  )
/** The words that the command was called with. */
async function wordsOf(body: unknown): Promise<string[]> {
  const { output } = await ended((await started(body)).id)
  return JSON.parse(output[0]!.replace('called with ', ''))
}

it('starts commands with what was asked for as single words, whatever is in them', async () => {
  const dir = join(runs, 'small')
  expect(
    await wordsOf({
      kind: 'quickstart',
      fast: true,
      settings: { 'tasks.suites': ['math', 'a,b'], 'rl.steps': 3 },
    }),
  ).toEqual([
    'quickstart',
    '--fresh',
    '--fast',
    '--set',
    'tasks.suites=["math","a,b"]',
    '--set',
    'rl.steps=3',
  ])
  expect(
    await wordsOf({ kind: 'stage', stage: 'filter', run: 'small', settings: { 'filter.judge': true } }),
  ).toEqual(['filter', dir, '--set', 'filter.judge=true'])
  expect(await wordsOf({ kind: 'stage', stage: 'eval', run: 'small' })).toEqual([
    'compare',
    '--model',
    join(dir, 'checkpoints', 'rl'),
  ])
  expect(await wordsOf({ kind: 'resume', run: 'small' })).toEqual(['run', 'resume', dir])
  const question = '--help; $(id) "\n`ls`'
  expect(
    (await wordsOf({ kind: 'ask', question, run: 'small', grammar: 'math', seed: 3, world: 1 })).slice(-2),
  ).toEqual(['--', question])
})

it('reports how a job ended', async () => {
  const done = await ended((await started({ kind: 'stage', stage: 'distill', run: 'small' })).id)
  expect(done).toMatchObject({ state: 'done', exitCode: 0, run: 'small', stage: 'distill', kind: 'stage' })
  expect(done.command).toBe(`distill ${join(runs, 'small')}`)
  expect(await ended((await started({ kind: 'stage', stage: 'rl', run: 'small' })).id)).toMatchObject({
    state: 'failed',
    exitCode: 1,
  })
})

it('gives the chain of a question', async () => {
  const { chain, state } = await ended(
    (await started({ kind: 'ask', question: 'What is 2 + 3?', run: 'small' })).id,
  )
  expect(state).toBe('done')
  expect(chain!.map(({ type }) => type)).toEqual(['role', 'answer', 'done'])
})

it('stops a job with Ctrl-C, so that it can save, and lets only one work on a run', async () => {
  const { id } = await started({ kind: 'stage', stage: 'sft', run: 'small' })
  await until(
    () => view(id),
    ({ output }) => output.includes('waiting'),
  )
  expect((await post(studio, '/api/jobs', { kind: 'stage', stage: 'rl', run: 'small' })).status).toBe(409)
  const { rows } = await get(studio, 'GET /api/runs', '/api/runs')
  expect(rows[0]!.job).toBe(id)
  expect((await post(studio, `/api/jobs/${id}/stop`, {})).json).toMatchObject({ state: 'stopping' })
  const stopped = await ended(id)
  expect(stopped).toMatchObject({ state: 'interrupted', exitCode: 130 })
  expect(stopped.output.at(-1)).toBe('saved')
  expect((await post(studio, '/api/jobs/none/stop', {})).status).toBe(404)
})

it('refuses settings that are not valid before anything starts', async () => {
  const other = await studioOn({
    runs,
    jobs: {
      launcher: ['/does/not/exist'],
      wordsOf: (words) => [...words],
      commandLine: (words) => words.join(' '),
      checkSettings: () => {
        throw new UsageError('unknown setting "sft.stepz"', { fix: 'Did you mean "sft.steps"?' })
      },
      grammarOf: () => undefined,
    },
  })
  try {
    const { status, json } = await post(other, '/api/jobs', {
      kind: 'quickstart',
      settings: { 'sft.stepz': 1 },
    })
    expect(status).toBe(400)
    expect(json).toMatchObject({
      error: { message: 'unknown setting "sft.stepz"', fix: 'Did you mean "sft.steps"?' },
    })
    expect((await send(other, '/api/jobs')).json).toEqual({ rows: [] })
  } finally {
    await other.stop()
  }
})

it('interrupts its jobs when it stops', async () => {
  const other = await studioOn({ runs })
  const { json } = await post(other, '/api/jobs', { kind: 'stage', stage: 'sft', run: 'small' })
  const { id } = json as JobRow
  await until(
    () => get(other, 'GET /api/jobs/:id', `/api/jobs/${id}`),
    ({ output }) => output.includes('waiting'),
  )
  // Stops only if the job ends, which it does only when interrupted.
  await other.stop()
})

/** Reads server-sent events until the messages are as wanted; at most ten events a second arrive. */
async function follow(
  query: string,
  isEnough: (messages: LiveMessage[]) => boolean,
  whileOpen: () => Promise<unknown> = async () => {},
): Promise<LiveMessage[]> {
  const stop = new AbortController()
  const response = await fetch(`${studio.address}/api/live?${query}`, {
    headers: { authorization: `Bearer ${studio.token}` },
    signal: stop.signal,
  })
  const messages: LiveMessage[] = []
  let text = ''
  let isBegun = false
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    const events = text.split('\n\n')
    text = events.pop()!
    for (const event of events) {
      const [, data] = /^data: (.*)$/m.exec(event) ?? []
      if (data === undefined) continue
      const batch = JSON.parse(data) as LiveMessage[]
      expect(event).toContain(`id: ${batch.at(-1)!.seq}\n`)
      messages.push(...batch)
    }
    if (!isBegun) {
      isBegun = true
      await whileOpen()
    }
    if (isEnough(messages)) break
  }
  stop.abort()
  return messages
}

it('tells pages what happens, and what they have missed', async () => {
  const isEnded = (messages: LiveMessage[]): boolean =>
    messages.some((message) => message.type === 'job' && message.job.state === 'done')
  let id = ''
  const messages = await follow('', isEnded, async () => {
    id = (await started({ kind: 'ask', question: 'Why?', run: 'small' })).id
  })
  expect(messages[0]).toMatchObject({ type: 'hello' })
  // What a job prints is only for pages that show it.
  expect(messages.map(({ type }) => type)).not.toContain('chain')
  expect(messages.map(({ seq }) => seq)).toEqual(
    messages.map(({ seq }) => seq).toSorted((one, other) => one - other),
  )
  const again = await follow(`job=${id}&after=${messages[0]!.seq}`, isEnded)
  const chain = again.flatMap((message) => (message.type === 'chain' ? message.messages : []))
  expect(chain.map(({ type }) => type)).toEqual(['role', 'answer', 'done'])
  expect(again.filter(({ type }) => type === 'job')).toEqual(messages.filter(({ type }) => type === 'job'))
  const [reset] = await follow('after=999999', (all) => all.length > 0)
  expect(reset).toMatchObject({ type: 'reset' })
})

it('follows a run that another process writes', async () => {
  using writer = smallRun(runs, 'live')
  const [record] = writer.list('rollout', { limit: 1 })
  let isWritten = false
  const messages = await follow(
    'run=live',
    (all) => {
      const types = new Set(all.map(({ type }) => type))
      const isBaseline = types.has('hello')
      if (isBaseline && !isWritten) return false
      return ['records', 'metrics', 'log', 'run'].every((type) => types.has(type as LiveMessage['type']))
    },
    async () => {
      // Read first, so that only what is new is reported.
      await until(
        () => get(studio, 'GET /api/runs/:run/rollouts', '/api/runs/live/rollouts'),
        ({ indexing }) => indexing === undefined,
      )
      isWritten = true
      // Until the studio has begun to watch, it reports nothing.
      const timer = setInterval(() => {
        writer.append('rollout', { ...record!, id: `rl-9-0-${Math.random()}`, groupId: 'rl-9-0' })
        writer.metric({ stage: 'rl', step: 9, reward_mean: 0.5 })
        writer.log('step 9')
        writer.setStage('rl', { status: 'running' })
      }, 50)
      timer.unref()
      writing = timer
    },
  ).finally(() => clearInterval(writing))
  const added = messages.flatMap((message) => (message.type === 'records' ? message.rollouts : []))
  expect(added.some(({ step, groupId }) => step === 9 && groupId === 'rl-9-0')).toBe(true)
  const rows = messages.flatMap((message) => (message.type === 'metrics' ? message.rows : []))
  expect(rows[0]).toMatchObject({ stage: 'rl', step: 9, reward_mean: 0.5 })
  expect(Object.keys(rows[0]!)).not.toContain('crc32')
})
let writing: NodeJS.Timeout | undefined
