import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createRun, openRun, type Run } from '../../src/store/index.ts'
import { writes } from '../rollout/fixtures.ts'
import { answer, eventsOf, solution, startTestServer, stopServers, type TestServer } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-recording-'))
const runs: Run[] = []
afterEach(async () => {
  await stopServers()
  for (const run of runs.splice(0)) run.close()
})
afterAll(() => rmSync(folder, { recursive: true }))

const newRun = (): Run => {
  const run = createRun(folder, { command: 'coa serve --record', coa: '0.0.0' })
  runs.push(run)
  return run
}

async function recording(
  options: Parameters<typeof startTestServer>[0] = {},
): Promise<TestServer & { run: Run }> {
  const run = options.run ?? newRun()
  return { ...(await startTestServer({ ...options, run })), run }
}

interface Feedback {
  rollout: string
  task: string
  rating: string
  answer: string | null
  replaced: boolean
  error?: { code: string; message: string; param: string }
}

async function feedback(
  server: TestServer,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<[status: number, Feedback]> {
  const response = await server.post('/v1/feedback', body, headers)
  return [response.status, (await response.json()) as Feedback]
}

const idOf = async (response: Response): Promise<string> => ((await response.json()) as { id: string }).id
const other = [{ role: 'user', content: 'What is 3 + 4?' }]

describe('recording', () => {
  it('stores each chain with its question, model, sampling and tokens before its reply ends', async () => {
    const server = await recording()
    const { run } = server
    const first = await idOf(await server.chat({ temperature: 0.5, max_tokens: 400, seed: 3 }))
    const reader = openRun(run.dir)
    runs.push(reader)
    const [rollout] = reader.list('rollout')
    expect(first).toBe(`chatcmpl-${rollout!.groupId}`)
    expect(rollout).toMatchObject({
      id: `${rollout!.groupId}#0`,
      answer: server.rollouts[0]!.answer,
      spans: server.rollouts[0]!.spans,
      meta: {
        served: {
          model: 'mine',
          sampling: { temperature: 0.5, maxSampled: 400 },
          tokens: { prompt: expect.any(Number), sampled: expect.any(Number), inserted: expect.any(Number) },
        },
      },
    })
    expect(reader.get('task', rollout!.taskId)).toMatchObject({
      suite: 'serve',
      domain: 'math',
      question: 'What is 2 + 3?',
      gold: { checker: 'none' },
    })
    const streamed = await eventsOf(await server.chat({ stream: true, n: 2, messages: other }))
    expect(streamed.length).toBeGreaterThan(3)
    expect(reader.count('rollout')).toBe(3)
  })

  it('stores a question once, whoever asks it, and finds those of an earlier server', async () => {
    const run = newRun()
    run.append('task', {
      v: 1,
      id: 'known',
      suite: 'mine',
      domain: 'math',
      question: 'What is 3 + 4',
      gold: { checker: 'math', answer: '7' },
    })
    const server = await recording({ run })
    for (const content of ['What is 2 + 3?', 'what is  2 + 3', 'What is 3 + 4?'])
      await (await server.chat({ messages: [{ role: 'user', content }] })).text()
    await (await server.post('/v1/responses', { model: 'mine', input: 'What is 2 + 3?' })).text()
    expect(run.count('task')).toBe(2)
    const taskIds = run.list('rollout').map(({ taskId }) => taskId)
    expect(taskIds[2]).toBe('known')
    expect(new Set(taskIds).size).toBe(2)
    await server.stop()
    const again = await recording({ run })
    await (await again.chat({})).text()
    expect(run.count('task')).toBe(2)
    expect(run.count('rollout')).toBe(5)
  })

  it('stores nothing of requests that do not want it', async () => {
    const server = await recording()
    await (await server.chat({ store: false })).text()
    await (await server.post('/v1/responses', { model: 'mine', input: 'Why?', store: false })).text()
    await (await server.chat({ store: false, coa: { best_of: 1 } })).text()
    expect(server.rollouts).toHaveLength(3)
    expect(server.run.kinds()).toMatchObject({ rollout: 0, task: 0, mark: 0 })
    expect((await server.chat({ store: 'no' })).status).toBe(400)
  })

  it('replies although nothing can be stored, and says so once', async () => {
    const server = await recording()
    server.run.close()
    for (let time = 0; time < 2; time++) expect((await server.chat({})).status).toBe(200)
    expect(await (await fetch(`${server.url}/metrics`)).text()).toContain('{outcome="failed"} 2\n')
    expect(server.notes).toEqual([expect.stringContaining('a chain could not be recorded')])
  })
})

describe('feedback', () => {
  it('is stored with the chain that it is about, and later feedback replaces it', async () => {
    const server = await recording()
    const id = await idOf(await server.chat({}))
    const [status, stored] = await feedback(server, { id, verdict: 'good', note: 'clear' })
    expect([status, stored]).toMatchObject([200, { rating: 'good', replaced: false, answer: null }])
    expect(await feedback(server, { id, verdict: 'bad', user: 'ann' })).toMatchObject([
      200,
      { replaced: false },
    ])
    expect(await feedback(server, { id, verdict: 'none' })).toMatchObject([200, { replaced: true }])
    const marks = server.run.list('mark')
    expect(marks).toMatchObject([
      { of: { kind: 'rollout', id: stored.rollout }, rating: 'bad', by: 'ann' },
      { rating: 'none', by: 'user' },
    ])
    expect(marks[1]!.note).toBeUndefined()
    expect(server.run.get('rollout', stored.rollout)!.answer).toBe(answer)
    const counted = await (await fetch(`${server.url}/metrics`)).text()
    expect(counted).toContain('coa_recorded_chains_total{outcome="stored"} 1\n')
    expect(counted).toContain('coa_feedback_total{rating="good"} 1\n')
    expect(counted).toContain('coa_feedback_total{rating="none"} 1\n')
  })

  it('can be the verdict of a verifier, whose correct answer later answers are compared with', async () => {
    const server = await recording()
    const id = await idOf(await server.chat({}))
    const wrong = { outcome: 'wrong', checker: 'tests', evidence: '2 of 3 fail', score: 0.3 }
    expect(await feedback(server, { id, verdict: wrong })).toMatchObject([
      200,
      { rating: 'bad', answer: null },
    ])
    const [, stored] = await feedback(server, { id, verdict: { outcome: 'correct' } })
    expect(stored).toMatchObject({ rating: 'good', answer: '5' })
    expect(server.run.get('task', stored.task)!.gold).toEqual({ checker: 'math', answer: '5' })
    expect(server.run.list('mark').map(({ by, verdict }) => [by, verdict?.outcome])).toEqual([
      ['tests', 'wrong'],
      ['client', 'correct'],
    ])
    expect(await feedback(server, { id, verdict: { outcome: 'undecided' } })).toMatchObject([
      200,
      { rating: 'none', replaced: true },
    ])
  })

  it('can say what the right answer is, and correct itself', async () => {
    const server = await recording()
    const id = await idOf(await server.chat({ messages: other }))
    for (const [given, gold] of [
      ['7', { checker: 'math', answer: '7' }],
      [' seven ', { checker: 'exact', answers: ['seven'] }],
      ['word '.repeat(20), { checker: 'judge', answer: 'word '.repeat(20).trim() }],
    ] as const) {
      const [status, { task }] = await feedback(server, { id, verdict: 'bad', answer: given })
      expect([status, server.run.get('task', task)!.gold]).toEqual([200, gold])
    }
  })

  it('never replaces a gold answer that the run had', async () => {
    const run = newRun()
    const gold = { checker: 'math', answer: '7' } as const
    run.append('task', { v: 1, id: 'a', suite: 'm', domain: 'math', question: 'What is 3 + 4?', gold })
    const server = await recording({ run })
    const id = await idOf(await server.chat({ messages: other }))
    expect(await feedback(server, { id, verdict: 'bad', answer: '8' })).toMatchObject([
      409,
      { error: { code: 'answer_known' } },
    ])
    expect(run.count('mark')).toBe(0)
    expect(await feedback(server, { id, verdict: { outcome: 'correct' } })).toMatchObject([
      200,
      { answer: null },
    ])
    expect(run.get('task', 'a')!.gold).toEqual(gold)
  })

  it('is about one choice of several, and about the chosen one of best-of', async () => {
    const server = await recording({
      picker: { assertFits: () => {}, pick: async () => ({ chosen: 1, by: 'majority', reason: 'most' }) },
    })
    const id = await idOf(await server.chat({ n: 2 }))
    expect(await feedback(server, { id, verdict: 'good' })).toMatchObject([
      400,
      { error: { param: 'choice' } },
    ])
    expect(await feedback(server, { id, verdict: 'good', choice: 5 })).toMatchObject([400, {}])
    const [, first] = await feedback(server, { id, verdict: 'good', choice: 1 })
    expect(first.rollout).toMatch(/#1$/)
    const best = await idOf(await server.chat({ coa: { best_of: 3 }, messages: other }))
    const [, second] = await feedback(server, { id: best, verdict: 'good' })
    expect(second.rollout).toMatch(/#1$/)
    expect(server.run.count('rollout')).toBe(5)
  })

  it('finds a response by its id, also that of a chain whose tools the client ran', async () => {
    const server = await recording({ serve: { tools: 'client' } })
    const tools = [{ type: 'function', name: 'code', parameters: {} }]
    const ask = { model: 'mine', input: 'What is 2 + 3?', tools }
    const called = (await (await server.post('/v1/responses', ask)).json()) as {
      id: string
      output: { type: string; call_id: string }[]
    }
    const call = called.output.find(({ type }) => type === 'function_call')!
    expect(await feedback(server, { id: called.id, verdict: 'good' })).toMatchObject([404, {}])
    const output = { type: 'function_call_output', call_id: call.call_id, output: '5' }
    const ended = await idOf(await server.post('/v1/responses', { ...ask, input: [output] }))
    expect(ended).not.toBe(called.id)
    for (const id of [called.id, ended])
      expect(await feedback(server, { id, verdict: 'good' })).toMatchObject([200, {}])
    expect(server.run.count('rollout')).toBe(1)
  })
})

it('says what a verdict may be', async () => {
  const server = await recording()
  const [, { error }] = await feedback(server, { id: 'chatcmpl-0', verdict: 'fine' })
  expect(error).toMatchObject({
    param: 'verdict',
    message: expect.stringMatching(/"good", "bad" or "none".*outcome/),
  })
})

describe('what feedback is refused', () => {
  it.each([
    ['not JSON', '{"id": ', 400, 'invalid_json'],
    ['a list', [], 400, null],
    ['no verdict', { id: 'chatcmpl-0' }, 400, 'invalid_value'],
    ['an unknown verdict', { id: 'chatcmpl-0', verdict: 'fine' }, 400, 'invalid_value'],
    ['an unknown outcome', { id: 'chatcmpl-0', verdict: { outcome: 'maybe' } }, 400, 'invalid_value'],
    ['a score above 1', { id: 'chatcmpl-0', verdict: { outcome: 'wrong', score: 7 } }, 400, 'invalid_value'],
    ['a huge note', { id: 'chatcmpl-0', verdict: 'bad', note: 'x'.repeat(10_001) }, 400, 'invalid_value'],
    [
      'a huge body',
      { id: 'chatcmpl-0', verdict: 'bad', note: 'x'.repeat(200_000) },
      413,
      'request_too_large',
    ],
    ['an unknown id', { id: `chatcmpl-${'0'.repeat(32)}`, verdict: 'bad' }, 404, 'reply_not_found'],
    ['a path as id', { id: '../../etc/passwd', verdict: 'bad' }, 404, 'reply_not_found'],
    [
      'a name that is not Unicode',
      '{"id": "chatcmpl-0", "verdict": "bad", "user": "\\ud800"}',
      400,
      'invalid_value',
    ],
    ['a number as id', { id: 7, verdict: 'bad' }, 400, 'invalid_value'],
  ])('%s', async (_, body, status, code) => {
    const server = await recording({ serve: { body_mb: 0.1 } })
    expect(await feedback(server, body)).toMatchObject([status, { error: { code } }])
    expect(server.run.count('mark')).toBe(0)
  })

  it('without a key, as another type, or on a server that records nothing', async () => {
    const server = await recording({ keys: ['secret'] })
    const body = { id: `chatcmpl-${'0'.repeat(32)}`, verdict: 'bad' }
    expect((await feedback(server, body))[0]).toBe(401)
    expect((await feedback(server, body, { authorization: 'Bearer wrong' }))[0]).toBe(401)
    const bearer = { authorization: 'Bearer secret' }
    expect((await feedback(server, body, bearer))[0]).toBe(404)
    expect((await feedback(server, body, { ...bearer, 'content-type': 'text/plain' }))[0]).toBe(415)
    const plain = await startTestServer({ write: writes(solution) })
    const id = await idOf(await plain.chat({}))
    expect(await feedback(plain, { id, verdict: 'good' })).toMatchObject([
      409,
      { error: { code: 'not_recording' } },
    ])
    expect((await fetch(`${plain.url}/v1/feedback`)).status).toBe(405)
  })
})
