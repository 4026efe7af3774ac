import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRun } from '../../../src/store/index.ts'
import { cleanEnvironment, coa, coaAsync } from '../../cli/coa.ts'
import { shortly } from './gateway.ts'
import { startUpstream, streamOf, type Upstream, wholeOf } from './scripted-model.ts'

const launcher = fileURLToPath(new URL('../../../bin/coa.js', import.meta.url))
const cwd = mkdtempSync(join(tmpdir(), 'coa-record-command-'))
const CHAT = '/v1/chat/completions'
const events = streamOf(CHAT, { text: 'Lima is the capital.' })
let model: Upstream
/** Ends the streams that wait in the middle. */
let release: () => void
let released: Promise<void>

beforeAll(async () => {
  model = await startUpstream(async (request, response) => {
    if (request.body['stream'] !== true)
      return void response.writeHead(200).end(JSON.stringify(wholeOf(request.path, { text: 'Lima' })))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(events.slice(0, 3).join(''))
    await released
    response.end(events.slice(3).join(''))
  })
})
afterAll(async () => {
  await model.close()
  rmSync(cwd, { recursive: true })
})

async function startCommand(
  ...more: string[]
): Promise<{ child: ChildProcess; url: string; output: Promise<string>; closed: Promise<unknown> }> {
  released = new Promise((resolve) => {
    release = resolve
  })
  const child = spawn(
    process.execPath,
    [launcher, 'record', '--upstream', model.url, '--port', '0', ...more],
    {
      cwd,
      env: cleanEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const closed = once(child, 'close')
  const output = text(child.stdout!)
  let said = ''
  while (!/recording at \S+,/.test(said)) {
    const [chunk] = await Promise.race([once(child.stderr!, 'data'), closed.then(() => ['closed: '])])
    said += String(chunk)
    if (child.exitCode !== null) throw new Error(said)
  }
  child.stderr!.resume()
  return { child, url: /recording at (\S+),/.exec(said)![1]!, output, closed }
}

const ask = (url: string, content: string, stream = false): Promise<Response> =>
  fetch(url + CHAT, {
    method: 'POST',
    body: JSON.stringify({ stream, model: 'm', messages: [{ role: 'user', content }] }),
  })

/** The newest run folder; their names are in order only to the second. */
const lastRun = (): string => {
  const folders = readdirSync(join(cwd, 'runs')).map((name) => join(cwd, 'runs', name))
  return folders.toSorted((one, other) => statSync(one).birthtimeMs - statSync(other).birthtimeMs).at(-1)!
}

describe('coa record', { timeout: 120_000 }, () => {
  it('keeps everything that had arrived when it is killed, and completes it when it is restarted', async () => {
    const killed = await startCommand()
    await (await ask(`${killed.url}/run/finished`, 'Hi')).text()
    const response = await ask(`${killed.url}/run/broken/agent/geographer`, 'Hi', true)
    const reader = response.body!.getReader()
    let received = ''
    while (!received.includes('is')) received += Buffer.from((await reader.read()).value!).toString()
    killed.child.kill('SIGKILL')
    await killed.closed
    await reader.cancel().catch(() => {})
    release()

    const dir = lastRun()
    const again = await startCommand('--run', dir, '--json')
    const status = JSON.parse(
      coa(['record', 'status', '--json', '--port', new URL(again.url).port], { cwd }).stdout,
    )
    expect(status.runs).toMatchObject([
      { run: 'broken', state: 'open', agents: { geographer: 1 }, calls: 1, errors: 1 },
      { run: 'finished', state: 'open', calls: 1, promptTokens: 10 },
    ])
    // The run continues where it was.
    await (await ask(`${again.url}/run/finished`, 'And now?')).text()
    again.child.kill('SIGINT')
    expect(JSON.parse(await again.output)).toMatchObject({ figures: { runs: 2, calls: 3, errors: 1 } })
    expect((await again.closed) as unknown).toEqual([0, null])
    using run = openRun(dir)
    const [broken, finished] = [run.get('trajectory', 'broken')!, run.get('trajectory', 'finished')!]
    expect(shortly(broken)).toEqual([
      'geographer < user: Hi',
      'geographer > Lima is th',
      'geographer x the answer broke off',
    ])
    expect(shortly(finished)).toContain('assistant < user: And now?')
    const distilled = coa(['distill', dir, '--json'], { cwd })
    expect(JSON.parse(distilled.stdout)).toMatchObject({ figures: { sequences: 2, failed: 0 } })
  })

  it('finishes open streams after Ctrl-C, and says what to do next', async () => {
    const { child, url, output, closed } = await startCommand()
    const response = await ask(url, 'Hi', true)
    const body = response.text()
    child.kill('SIGINT')
    await setTimeout(200)
    expect(child.exitCode).toBe(null)
    release()
    expect(await body).toBe(events.join(''))
    await closed
    expect(child.exitCode).toBe(0)
    expect(await output).toMatch(/✓ 1 run recorded\nNext:\n(?: {2}cd .*\n)? .* distill /)
  })

  it('exits at once after a second Ctrl-C', async () => {
    const { child, url, closed } = await startCommand()
    const response = await ask(url, 'Hi', true)
    response.text().catch(() => {})
    child.kill('SIGINT')
    await setTimeout(300)
    child.kill('SIGINT')
    await closed
    expect(child.signalCode).toBe('SIGINT')
    release()
  })

  it('ends a run when the app says so, with its answer, gold answer and reward', async () => {
    const { child, url, closed } = await startCommand()
    await (await ask(`${url}/run/one`, 'Capital of Peru?')).text()
    const ended = await fetch(`${url}/run/one/end`, {
      method: 'POST',
      body: JSON.stringify({ answer: 'Lima!', gold: ['Lima'], reward: 1 }),
    })
    expect(await ended.json()).toMatchObject({ run: 'one', state: 'complete' })
    const unknown = await fetch(`${url}/run/two/end`, { method: 'POST' })
    expect([unknown.status, await unknown.text()]).toEqual([400, expect.stringContaining('there is no run')])
    const bad = await fetch(`${url}/run/one/end`, { method: 'POST', body: '{"reward":"good"}' })
    expect(bad.status).toBe(400)
    const shown = coa(['record', 'status', '--port', new URL(url).port], { cwd })
    expect(shown.stdout).toMatch(/complete\s+one\s+assistant 1\s+1\s+15\s+0/)
    child.kill('SIGINT')
    await closed
    using run = openRun(lastRun())
    expect(run.get('trajectory', 'one')).toMatchObject({
      answer: 'Lima!',
      verdict: { outcome: 'correct' },
      meta: { reward: 1 },
    })
    expect(run.list('task')).toMatchObject([
      { question: 'Capital of Peru?', gold: { checker: 'exact', answers: ['Lima'] } },
    ])
  })

  it('says what is wrong before it starts, and leaves no run behind', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const before = readdirSync(join(cwd, 'runs')).length
    const fails = async (...args: string[]) => {
      const { code, stderr } = await coaAsync(['record', ...args], { cwd })
      return `${code} ${stderr}`
    }
    expect(await fails('--upstream', model.url, '--port', String(port))).toMatch(/^2 .*the port is in use/)
    expect(await fails()).toMatch(/^2 .*--upstream/)
    expect(await fails('--upstream', 'localhost:1')).toMatch(/^2 .*not the URL of a model API/)
    expect(await fails('--upstream', model.url, '--exclude', '(')).toMatch(/^2 .*not a regular expression/)
    expect(await fails('status', '--port', String(port + 1))).toMatch(/^2 .*not running at/)
    expect(readdirSync(join(cwd, 'runs'))).toHaveLength(before)
    taken.close()
  })
})
