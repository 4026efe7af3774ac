import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { modelFolder } from '../../src/agent/index.ts'
import { trainedGrammars } from '../../src/agent/trained-grammar.ts'
import { randomWeights, saveCheckpoint } from '../../src/engine/index.ts'
import { openServer } from '../../src/pipeline/open-server.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import type { Rollout } from '../../src/schema/index.ts'
import { createRun, openRun } from '../../src/store/index.ts'
import { suites } from '../../src/tasks/index.ts'
import { cleanEnvironment, coa, coaJson } from '../cli/coa.ts'
import { byteModelShape } from '../engine/byte-model.ts'
import { howMany } from '../how-many.ts'

const launcher = fileURLToPath(new URL('../../bin/coa.js', import.meta.url))
const cwd = mkdtempSync(join(tmpdir(), 'coa-serve-'))
afterAll(() => rmSync(cwd, { recursive: true }))

interface Started {
  child: ChildProcess
  url: string
  errors: Promise<string>
  lines: () => Record<string, unknown>[]
  closed: Promise<unknown[]>
}

const quick = ['--set', 'sandbox.driver=pyodide', '--set', 'rollout.max_tokens=60']

async function start(args: string[], environment: Record<string, string> = {}): Promise<Started> {
  const child = spawn(process.execPath, [launcher, 'serve', '--json', '--port', '0', ...quick, ...args], {
    cwd,
    env: { ...cleanEnvironment(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close')
  const errors = text(child.stderr!)
  let said = ''
  child.stdout!.on('data', (chunk) => {
    said += String(chunk)
  })
  while (!said.includes('\n'))
    await Promise.race([
      once(child.stdout!, 'data'),
      closed.then(async () => Promise.reject(new Error(`it ended: ${await errors}`))),
    ])
  const lines = (): Record<string, unknown>[] =>
    said
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  return { child, url: lines()[0]!['url'] as string, errors, lines, closed }
}

const ask = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'nano', messages: [{ role: 'user', content: 'What is 2 + 3?' }] }),
  })

it('serves until it is told to stop, with keys from a variable', async () => {
  const server = await start(['--model', 'nano', '--grammar', 'math', '--key-env', 'MY_KEYS'], {
    MY_KEYS: 'one,two',
  })
  expect(server.lines()[0]).toMatchObject({
    event: 'listening',
    model: 'nano',
    grammar: 'math',
    tools: 'server',
    keys: true,
  })
  expect((await ask(server.url)).status).toBe(401)
  const response = await ask(server.url, { authorization: 'Bearer two' })
  expect(await response.json()).toMatchObject({ object: 'chat.completion', choices: [{ index: 0 }] })
  server.child.kill('SIGTERM')
  expect(await server.closed).toEqual([0, null])
  expect(server.lines().slice(1)).toMatchObject([
    { event: 'request', status: 401 },
    { event: 'request', status: 200, stops: expect.any(Array), tokens: expect.any(Object) },
  ])
  expect(await server.errors).not.toContain('one')
})

it('can start again after it was killed', async () => {
  const server = await start(['--model', 'nano', '--grammar', 'math'])
  const { port } = new URL(server.url)
  const asked = ask(server.url).catch((error: Error) => error.message)
  server.child.kill('SIGKILL')
  await server.closed
  await asked
  const again = await start(['--model', 'nano', '--grammar', 'math', '--port', port])
  expect(new URL(again.url).port).toBe(port)
  expect((await fetch(`${again.url}/health`)).status).toBe(200)
  again.child.kill('SIGINT')
  expect(await again.closed).toEqual([0, null])
})

it('has recorded every reply when it is killed, and continues the run', async () => {
  const args = ['--model', 'nano', '--grammar', 'math', '--record', '--set', 'project.runs=recorded']
  const server = await start(args)
  const { run: id, dir } = server.lines()[0] as { run: string; dir: string }
  const replies = await Promise.all(
    Array.from({ length: 8 }, async () => (await (await ask(server.url)).json()) as { id: string }),
  )
  server.child.kill('SIGKILL')
  await server.closed
  expect(new Set(replies.map(({ id: reply }) => reply)).size).toBe(8)
  {
    using run = openRun(dir)
    for (const reply of replies)
      expect(run.has('rollout', `${reply.id.slice('chatcmpl-'.length)}#0`)).toBe(true)
    expect(run.kinds()).toMatchObject({ rollout: 8, task: 1 })
  }
  const again = await start([...args, '--run', id])
  const feedback = await fetch(`${again.url}/v1/feedback`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: replies[3]!.id, verdict: 'good' }),
  })
  expect(feedback.status).toBe(200)
  await (await ask(again.url)).text()
  const second = coa(['serve', '--port', '0', ...args, '--run', id], { cwd })
  expect([second.code, second.stderr]).toEqual([
    expect.any(Number),
    expect.stringMatching(/the run is locked by/),
  ])
  again.child.kill('SIGTERM')
  expect(await again.closed).toEqual([0, null])
  using run = openRun(dir)
  expect(run.kinds()).toMatchObject({ rollout: 9, task: 1, mark: 1 })
})

it('says what it records before it records anything, and at the end what it has', async () => {
  const args = ['--model', 'nano', '--grammar', 'math', '--record', '--port', '0', ...quick]
  const child = spawn(process.execPath, [launcher, 'serve', ...args], {
    cwd,
    env: cleanEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const closed = once(child, 'close')
  let said = ''
  child.stderr!.on('data', (chunk) => {
    said += String(chunk)
  })
  while (!said.includes('Ctrl-C')) await once(child.stderr!, 'data')
  expect(said).toMatch(/recording +run .*plain text: questions .*"store": false are not recorded/s)
  const url = /http:\S+/.exec(said)![0]
  const { id } = (await (await ask(url)).json()) as { id: string }
  const body = JSON.stringify({ id, verdict: 'bad', answer: '5' })
  await fetch(`${url}/v1/feedback`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  child.kill('SIGINT')
  await closed
  expect(said).toMatch(
    /chains 1, questions 1, marked good 0, marked bad 1\nNext:\n.*rl --from-served \S+\n$/s,
  )
})

describe('what it refuses', () => {
  it.each([
    [['--model', 'nano'], 'nothing records which grammar', '--grammar'],
    [['--model', 'nano', '--grammar', 'math', '--host', '0.0.0.0'], 'it needs keys', 'COA_SERVE_KEYS'],
    [['--model', 'nano', '--grammar', 'math', '--key-file', 'none.txt'], 'cannot be read', 'serve.key_file'],
    [['--model', 'none'], 'there is no model "none"', 'config.json'],
    [['--model', 'nano', '--tokenizer', 'nano'], 'only if --model is a URL', 'Omit it'],
    [['--model', 'nano', '--grammar', 'web'], 'is not available', '--tools'],
  ])('%s', (args, message, fix) => {
    const { code, stderr } = coa(['serve', '--port', '0', ...quick, ...args], { cwd })
    expect(stderr).toContain(message)
    expect(stderr).toContain(fix)
    expect([2, 5]).toContain(code)
  })
})

describe('the grammar that a model was trained on', () => {
  const model = {
    shape: byteModelShape,
    weights: randomWeights(byteModelShape, 3),
    stage: 'sft' as const,
    step: 0,
    createdAt: '2026-01-01T00:00:00Z',
    files: {},
  }
  const task = suites.get('math')!.generate({ seed: 1, split: 'train', index: 0 })

  it('is that of the tasks in its run, also for what was made from it', () => {
    const run = createRun(cwd, { command: 'test', coa: '0.0.0' })
    const folder = join(run.dir, 'checkpoints', 'sft')
    saveCheckpoint(folder, model)
    const copy = join(cwd, 'copy')
    saveCheckpoint(copy, { ...model, parent: { path: folder } })
    expect(trainedGrammars(folder)).toEqual([])
    run.append('task', task)
    run.append('task', { ...task, id: 'other', domain: 'multihop' })
    expect(trainedGrammars(folder)).toEqual(['math', 'multihop'])
    writeFileSync(join(run.dir, 'config.toml'), '[language]\ngrammar = "math"\n')
    for (const one of [folder, copy]) expect(trainedGrammars(one)).toEqual(['math'])
    run.close()
    expect(trainedGrammars(modelFolder('nano'))).toEqual([])
  })
})

it('answers as coa solve does', async () => {
  const tasks = Array.from({ length: howMany(50) }, (_, index) =>
    suites.get('math')!.generate({ seed: 3, split: 'test', index }),
  )
  const settings = { rollout: { temperature: 0, max_tokens: 60 }, sandbox: { driver: 'pyodide' } }
  const served: Rollout[] = []
  const server = await openServer(
    ProjectConfig.parse({ ...settings, language: { grammar: 'math' }, serve: { port: 0 } }),
    { onRollout: (rollout) => void served.push(rollout) },
  )
  try {
    for (const { question } of tasks) {
      const response = await fetch(`${server.url}/v1/responses`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'nano', input: question }),
      })
      expect(response.status).toBe(200)
      const solved = coaJson<{ rollouts: Rollout[] }>(
        ['solve', question, '--model', 'nano', '--grammar', 'math', '--temperature', '0', ...quick],
        { cwd },
      )
      const [one, other] = [served.at(-1)!, solved.rollouts[0]!]
      expect(one.promptTokens).toEqual(other.promptTokens)
      expect(one.spans.map(({ text, tokens }) => [text, tokens])).toEqual(
        other.spans.map(({ text, tokens }) => [text, tokens]),
      )
    }
  } finally {
    await server.stop()
  }
  expect(served).toHaveLength(tasks.length)
})
