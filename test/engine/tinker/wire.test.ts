import { afterEach, describe, expect, it, vi } from 'vitest'
import { datumOf } from '../../../src/engine/tinker/datums.ts'
import { Futures } from '../../../src/engine/tinker/futures.ts'
import { startHeartbeat } from '../../../src/engine/tinker/heartbeat.ts'
import { ModelSession } from '../../../src/engine/tinker/model-session.ts'
import { decodePass } from '../../../src/engine/tinker/protobuf/messages.ts'
import { Wire, type WireOptions } from '../../../src/engine/tinker/wire.ts'
import { startTinkerServer, type TinkerReply, type TinkerServer } from './tinker-server.ts'

let server: TinkerServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

/** A client of a server with these responses in order; the last one repeats. */
async function scripted(replies: TinkerReply[], options: Partial<WireOptions> = {}): Promise<Wire> {
  server = await startTinkerServer((_request, index) => replies[Math.min(index, replies.length - 1)]!)
  return new Wire({ url: server.url, patienceMs: 3_000, ...options })
}
const good = { body: { fine: true } }

describe('a request', () => {
  it.each([408, 425, 429, 500, 502, 503])('is retried after status %i', async (status) => {
    const wire = await scripted([{ status, body: { detail: 'not now' } }, good])
    expect(await wire.json('/healthz')).toEqual({ fine: true })
    expect(server!.requests.length).toBe(2)
  })

  it.each([
    [400, 'the batch is empty', /rejected the request: the batch is empty\./],
    [401, 'no', /the API key is missing or invalid/],
    [404, 'Model not found', /Model not found/],
    [409, 'other body', /other body/],
    [413, 'too much', /too much/],
    [507, 'out of memory: lower the batch', /lower the batch/],
  ])('is not retried after status %i', async (status, detail, message) => {
    const wire = await scripted([{ status, body: { detail } }, good])
    await expect(wire.json('/forward', { body: {} })).rejects.toThrow(message)
    expect(server!.requests.length).toBe(1)
  })

  it('reports the invalid field', async () => {
    const detail = [{ loc: ['body', 'adam_params', 'grad_clip_norm'], msg: 'Extra inputs are not permitted' }]
    const wire = await scripted([{ status: 422, body: { detail } }])
    await expect(wire.json('/optim_step', { body: {} })).rejects.toThrow(
      /body\.adam_params\.grad_clip_norm Extra inputs/,
    )
  })

  it('respects Retry-After', async () => {
    const wire = await scripted([{ status: 429, headers: { 'retry-after': '1' } }, good])
    const began = performance.now()
    await wire.json('/healthz')
    expect(performance.now() - began).toBeGreaterThan(950)
  })

  it('is retried when the connection breaks, unless that could run it twice', async () => {
    const wire = await scripted([{ hangUp: true }, good])
    expect(await wire.json('/forward', { body: {} })).toEqual({ fine: true })
    await server!.close()
    const careful = await scripted([{ hangUp: true }, good])
    await expect(careful.json('/forward', { body: {}, repeatable: false })).rejects.toThrow(
      /cannot be reached/,
    )
    expect(server!.requests.length).toBe(1)
  })

  it('gives up on an unreachable server, and names it', async () => {
    const wire = await scripted([good], { patienceMs: 600 })
    await server!.close()
    const began = performance.now()
    await expect(wire.json('/healthz')).rejects.toThrow(/127\.0\.0\.1:\d+ cannot be reached: ECONNREFUSED/)
    expect(performance.now() - began).toBeLessThan(3_000)
  })

  it('is aborted immediately, even between two attempts', async () => {
    const wire = await scripted([{ status: 503 }], { patienceMs: 60_000 })
    const signal = AbortSignal.timeout(400)
    const began = performance.now()
    await expect(wire.json('/healthz', { signal })).rejects.toThrow(/timeout|aborted/i)
    expect(performance.now() - began).toBeLessThan(2_000)
  })

  it('sends the key, and accepts a URL with or without the version', async () => {
    await scripted([good])
    for (const url of [server!.url, `${server!.url}/`, `${server!.url}/api/v1/`])
      await new Wire({ url, key: 'tml-1' }).json('/healthz')
    expect(server!.requests.map(({ path, headers }) => [path, headers['x-api-key']])).toEqual(
      Array(3).fill(['/healthz', 'tml-1']),
    )
    expect(() => new Wire({ url: 'localhost' })).toThrow(/is not a URL/)
  })
})

describe('a future', () => {
  const pending = { body: { request_id: 'r1', status: 'pending' } }

  it('is polled until it is done', async () => {
    const again = { status: 408, body: { type: 'try_again' } }
    const wire = await scripted([pending, again, again, { body: { metrics: {} } }])
    expect(await new Futures(wire).call('/forward', { model_id: 'm' })).toEqual({ metrics: {} })
    expect(server!.requests.map(({ path, body }) => [path, body])).toEqual([
      ['/forward', { model_id: 'm' }],
      ...Array(3).fill(['/retrieve_future', { request_id: 'r1' }]),
    ])
  })

  it('survives polls that time out', async () => {
    const wire = await scripted([pending, { delayMs: 1_000 }, { body: { done: 1 } }])
    expect(await new Futures(wire, 300).call('/forward', {})).toEqual({ done: 1 })
  })

  it('is resubmitted if the server has lost it, but not forever', async () => {
    const gone = { status: 410, body: { detail: 'the promise is gone' } }
    const wire = await scripted([pending, gone, pending, { body: { done: 1 } }])
    expect(await new Futures(wire).call('/forward', {})).toEqual({ done: 1 })
    await server!.close()
    server = await startTinkerServer(({ path }) => (path === '/forward' ? pending : gone))
    await expect(new Futures(new Wire({ url: server.url })).call('/forward', {})).rejects.toThrow(
      /the promise is gone/,
    )
    expect(server.requests.filter(({ path }) => path === '/forward').length).toBe(3)
  })

  it('reports why it failed', async () => {
    const wire = await scripted([pending, { status: 400, body: { detail: 'the gradient is not a number' } }])
    await expect(new Futures(wire).call('/optim_step', {})).rejects.toThrow(/not a number/)
  })
})

describe('training requests', () => {
  const input = { data: [{ tokens: [1, 2, 3], inputs: { weights: [0, 1, 0.5] } }], loss_fn: 'cross_entropy' }
  const output = { loss_fn_outputs: [{ logprobs: { data: [-1, -2] } }], metrics: {} }

  it('are numbered, and reach the server in order', async () => {
    server = await startTinkerServer(({ path }, index) =>
      path === '/retrieve_future'
        ? { body: output }
        : { body: { request_id: String(index) }, delayMs: index === 0 ? 200 : 0 },
    )
    const session = new ModelSession(new Futures(new Wire({ url: server.url })), 'm')
    await Promise.all([
      session.pass('/forward_backward', input),
      session.pass('/forward', input),
      session.step(adam),
    ])
    const put = server.requests.filter(({ path }) => path !== '/retrieve_future')
    expect(put.map(({ path, body }) => [path, (body as { seq_id: number }).seq_id])).toEqual([
      ['/forward_backward', 1],
      ['/forward', 2],
      ['/optim_step', 3],
    ])
  })
  const adam = { learning_rate: 1, beta1: 0, beta2: 0, eps: 1, weight_decay: 0 }

  it('switch to protobuf if the server requires it', async () => {
    server = await startTinkerServer(({ headers }) =>
      headers['content-type'] === 'application/json'
        ? { status: 415, body: { detail: 'protobuf only' } }
        : { body: output },
    )
    const session = new ModelSession(new Futures(new Wire({ url: server.url })), 'm')
    const { logprobs } = await session.pass('/forward', input)
    expect(logprobs).toEqual([Float32Array.of(0, -1, -2)])
    await session.pass('/forward_backward', input)
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/forward',
      '/forward_backward',
      '/forward_backward',
    ])
    const sent = server.requests.slice(1).map(({ body }) => decodePass(body as Uint8Array))
    expect(sent.map(({ seqId, forwardOnly }) => [seqId, forwardOnly])).toEqual([
      [2, true],
      [3, false],
    ])
    expect(sent[0]!.data).toEqual(input.data.map(datumOf))
  })
})

it('sends heartbeats until it is stopped', async () => {
  const wire = await scripted([good])
  const stop = startHeartbeat(wire, 's1', 50)
  await vi.waitFor(() => expect(server!.requests.length).toBeGreaterThanOrEqual(3), 60_000)
  stop()
  expect(server!.requests[0]).toMatchObject({ path: '/session_heartbeat', body: { session_id: 's1' } })
  const pause = () => new Promise((resolve) => setTimeout(resolve, 200))
  // One may still have been on its way.
  await pause()
  const { length } = server!.requests
  await pause()
  expect(server!.requests.length).toBe(length)
})
