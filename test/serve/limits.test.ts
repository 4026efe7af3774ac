import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { Policy } from '../../src/agent/index.ts'
import { policyOf, worldOf, writes } from '../rollout/fixtures.ts'
import { answer, solution, startTestServer, stopServers, type TestServer, until } from './support.ts'

afterEach(stopServers)

/** A model that writes once it may. It stops when it is told to. */
function slowModel(): { policy: Policy; begun: () => number; stopped: () => number; go: () => void } {
  let [begun, stopped] = [0, 0]
  let go: () => void = () => {}
  const open = new Promise<void>((resolve) => {
    go = resolve
  })
  const policy = policyOf(writes(solution))
  const { engine } = policy
  return {
    begun: () => begun,
    stopped: () => stopped,
    go: () => go(),
    policy: {
      ...policy,
      engine: {
        ...engine,
        sample: async (request) => {
          begun++
          await new Promise<void>((resolve, reject) => {
            request.signal!.addEventListener('abort', () => {
              stopped++
              reject(request.signal!.reason)
            })
            open.then(resolve, reject)
          })
          return engine.sample(request)
        },
      },
    },
  }
}

const ends = (server: TestServer): boolean =>
  server.service.slots.running === 0 && server.service.slots.waiting === 0

describe('a client that goes away', () => {
  it.each([false, true])('stops its chain and frees the slot, streamed: %s', async (stream) => {
    const model = slowModel()
    const server = await startTestServer({ policy: model.policy, serve: { chains: 1 } })
    const leaving = new AbortController()
    const request = fetch(`${server.base}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'mine', stream, messages: [{ role: 'user', content: 'Hi' }] }),
      signal: leaving.signal,
    })
    const gone = request.then((response) => response.text()).catch((error: Error) => error.name)
    await until(() => model.begun() === 1)
    leaving.abort()
    expect(await gone).toBe('AbortError')
    await until(() => model.stopped() === 1 && ends(server) && server.logs.length === 1)
    expect(server.logs[0]).toMatchObject({ status: 499 })
    expect(server.rollouts).toEqual([])
    model.go()
    expect((await server.chat({})).status).toBe(200)
  })

  it('leaves the queue', async () => {
    const model = slowModel()
    const server = await startTestServer({ policy: model.policy, serve: { chains: 1 } })
    const first = server.chat({})
    await until(() => model.begun() === 1)
    const leaving = new AbortController()
    const second = fetch(`${server.base}/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'mine', input: 'Hi' }),
      signal: leaving.signal,
    }).catch(() => {})
    await until(() => server.service.slots.waiting === 1)
    leaving.abort()
    await second
    await until(() => server.service.slots.waiting === 0)
    model.go()
    expect((await first).status).toBe(200)
    expect(model.begun()).toBe(2)
  })

  it('stops a tool', async () => {
    let stopped = false
    const world = worldOf(
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            stopped = true
            reject(signal.reason)
          })
        }),
    )
    const server = await startTestServer({ world })
    const response = await server.chat({ stream: true })
    await response.body!.cancel()
    await until(() => stopped && ends(server))
  })
})

it('beyond the queue, requests are refused and may come again', async () => {
  const model = slowModel()
  const server = await startTestServer({ policy: model.policy, serve: { chains: 1, queue: 1 } })
  const first = server.chat({})
  await until(() => model.begun() === 1)
  const second = server.chat({ stream: true })
  await until(() => server.service.slots.waiting === 1)
  const third = await server.chat({})
  expect([third.status, third.headers.get('retry-after')]).toEqual([429, '1'])
  expect(await third.json()).toMatchObject({ error: { type: 'rate_limit_error', code: 'server_busy' } })
  expect((await server.chat({ n: 2 })).status).toBe(429)
  model.go()
  expect((await first).status).toBe(200)
  expect(await (await second).text()).toContain('[DONE]')
  expect(ends(server)).toBe(true)
})

it('a client that does not read is dropped once too much has piled up', async () => {
  const policy = policyOf(() => '')
  const { engine } = policy
  const server = await startTestServer({
    policy: {
      ...policy,
      engine: {
        ...engine,
        sample: async (request) => {
          for (const text of ['<reflection>', 'x'.repeat(60_000)])
            for (const token of policy.tokenizer.encodeIds(text)) request.onToken?.(token, 0)
          return engine.sample(request)
        },
      },
    },
  })
  const body = JSON.stringify({
    model: 'mine',
    stream: true,
    messages: [{ role: 'user', content: 'Hi' }],
    n: 2,
  })
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.pause()
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  await until(() => server.logs.length === 1 && ends(server))
  expect(server.logs[0]).toMatchObject({ status: 499 })
  socket.destroy()
})

describe('stopping', () => {
  it('finishes what is in progress, and refuses what is new', async () => {
    const model = slowModel()
    const server = await startTestServer({ policy: model.policy, serve: { shutdown_s: 600 } })
    const running = server.chat({})
    await until(() => model.begun() === 1)
    const stopped = server.stop()
    const late = await server.chat({})
    expect(late.status).toBe(503)
    expect(late.headers.get('retry-after')).toBe('5')
    expect(await late.json()).toMatchObject({ error: { code: 'server_stopping' } })
    expect((await fetch(`${server.url}/health`)).status).toBe(503)
    model.go()
    const { choices } = (await (await running).json()) as { choices: { message: { content: string } }[] }
    expect(choices[0]!.message.content).toBe(answer)
    await stopped
    await expect(server.chat({})).rejects.toThrow('fetch failed')
  })

  it('after a while, it breaks off: whole responses with 503, streams with an error', async () => {
    const model = slowModel()
    const server = await startTestServer({ policy: model.policy, serve: { shutdown_s: 0 } })
    const whole = server.chat({})
    const streamed = server.chat({ stream: true })
    await until(() => model.begun() === 2)
    await server.stop()
    expect((await whole).status).toBe(503)
    expect(await (await streamed).text()).toContain('"code":"server_stopping"')
    expect(model.stopped()).toBe(2)
  })
})

describe('who may ask', () => {
  const keys = ['one', 'two']
  const status = async (
    server: TestServer,
    headers: Record<string, string>,
    path = '/v1/models',
  ): Promise<number> => (await fetch(`${server.url}${path}`, { headers })).status

  it('those with a key, everywhere but at /health', async () => {
    const server = await startTestServer({ keys })
    expect(await status(server, {})).toBe(401)
    for (const header of ['Bearer three', 'Bearer on', 'Bearer onee', 'one', 'Basic one', 'Bearer '])
      expect(await status(server, { authorization: header }), header).toBe(401)
    for (const key of keys) expect(await status(server, { authorization: `Bearer ${key}` })).toBe(200)
    expect(await status(server, {}, '/metrics')).toBe(401)
    expect(await status(server, {}, '/health')).toBe(200)
    const refused = await server.chat({})
    expect(refused.headers.get('www-authenticate')).toBe('Bearer')
    expect(await refused.json()).toMatchObject({
      error: { type: 'authentication_error', code: 'invalid_api_key' },
    })
  })

  it('no pages of other origins, whatever name leads them here', async () => {
    const server = await startTestServer({
      serve: { cors: ['https://app.example'], hosts: ['proxy.example'] },
    })
    const raw = async (headers: string): Promise<string> => {
      const { hostname, port } = new URL(server.url)
      const socket = connect(Number(port), hostname)
      socket.write(`GET /v1/models HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`)
      let text = ''
      for await (const chunk of socket) text += String(chunk)
      return text.split(' ')[1]!
    }
    const own = new URL(server.url).host
    expect(await raw(`Host: ${own}\r\n`)).toBe('200')
    expect(await raw('Host: localhost\r\n')).toBe('200')
    expect(await raw('Host: proxy.example\r\n')).toBe('200')
    expect(await raw('Host: evil.example\r\n')).toBe('403')
    expect(await raw(`Host: ${own}\r\nHost: ${own}\r\n`)).toBe('400')
    expect(await raw('Host: [\r\n')).toBe('400')
    expect(await raw(`Host: ${own}\r\nOrigin: http://${own}\r\n`)).toBe('200')
    expect(await raw(`Host: ${own}\r\nOrigin: https://evil.example\r\n`)).toBe('403')
    expect(await raw(`Host: ${own}\r\nOrigin: null\r\n`)).toBe('403')
    expect(await raw(`Host: ${own}\r\nOrigin: https://app.example\r\nSec-Fetch-Site: cross-site\r\n`)).toBe(
      '200',
    )
    expect(await raw(`Host: ${own}\r\nSec-Fetch-Site: cross-site\r\n`)).toBe('403')
    const asked = {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-headers': 'authorization, x-stainless-lang',
      },
    }
    const preflight = await fetch(`${server.base}/responses`, asked)
    expect([
      preflight.status,
      preflight.headers.get('access-control-allow-origin'),
      preflight.headers.get('access-control-allow-headers'),
    ]).toEqual([204, 'https://app.example', 'authorization, x-stainless-lang'])
  })

  it('nobody else on the network without a key', async () => {
    await expect(startTestServer({ serve: { host: '0.0.0.0' } })).rejects.toThrow('it needs keys')
    const open = await startTestServer({ serve: { host: '0.0.0.0' }, keys })
    const url = open.url.replace('0.0.0.0', '127.0.0.1')
    expect((await fetch(`${url}/v1/models`, { headers: { authorization: 'Bearer one' } })).status).toBe(200)
  })
})
