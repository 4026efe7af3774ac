import { afterEach, describe, expect, it } from 'vitest'
import { EngineError, openOpenAI } from '../../../src/engine/index.ts'
import { byteTokenizer } from '../../../src/language/tokens/index.ts'
import { act, Stream, scripted, send } from './scripted-server.ts'

const tokenizer = byteTokenizer()
let server: Awaited<ReturnType<typeof scripted>>
afterEach(() => server?.close())

const models = { data: [{ id: 'm' }] }
const text = new Stream([{ choices: [{ text: 'fine', finish_reason: 'stop' }] }])
const open = (options = {}) => openOpenAI({ url: server.url, tokenizer, firstWait: 5, ...options })
const request = { prompt: [65], maxTokens: 5 }

describe('a busy server', () => {
  it('is retried, not before its Retry-After', async () => {
    let rejections = 0
    server = await scripted({
      '/v1/models': models,
      '/v1/completions': act((response) => {
        if (rejections++ < 2)
          return send(response, 503, { error: { message: 'busy' } }, { 'retry-after': '0.2' })
        response.end('data: {"choices":[{"text":"fine"}]}\n\n')
      }),
    })
    const engine = await open()
    const start = performance.now()
    const [sample] = await engine.sample(request)
    expect(tokenizer.decode(sample!.tokens)).toBe('fine')
    expect(server.requestsTo('/v1/completions')).toHaveLength(3)
    expect(performance.now() - start).toBeGreaterThan(2 * 200 * 0.75 - 5)
  })

  it('is given up on after some retries, with its error', async () => {
    server = await scripted({
      '/v1/models': models,
      '/v1/completions': act((response) => send(response, 500, { error: { message: 'out of memory' } })),
    })
    const engine = await open({ retries: 2 })
    await expect(engine.sample(request)).rejects.toThrow(/returned 500: out of memory/)
    expect(server.requestsTo('/v1/completions')).toHaveLength(3)
  })
})

describe('a server that rejects a request', () => {
  it('is not retried', async () => {
    server = await scripted({
      '/v1/models': models,
      '/v1/completions': act((response) => send(response, 400, { message: 'prompt too long' })),
    })
    const engine = await open()
    await expect(engine.sample(request)).rejects.toThrow(/returned 400: prompt too long/)
    expect(server.requestsTo('/v1/completions')).toHaveLength(1)
  })

  it('for a missing key says so, and accepts the key', async () => {
    server = await scripted({
      '/v1/models': act((response, call) =>
        call.headers.authorization === 'Bearer secret'
          ? send(response, 200, models)
          : send(response, 401, {}),
      ),
      '/v1/completions': text,
    })
    await expect(open()).rejects.toMatchObject({ fix: 'Pass the API key that the server requires.' })
    const engine = await open({ key: 'secret' })
    expect(await engine.sample(request)).toHaveLength(1)
  })
})

describe('connection problems', () => {
  it('no server', async () => {
    server = await scripted({})
    const { url } = server
    server.close()
    await expect(openOpenAI({ url, retries: 1, firstWait: 1 })).rejects.toThrow(/cannot be reached/)
    await expect(openOpenAI({ url: 'localhost:80' })).rejects.toThrow('is not a server URL')
  })

  it('not a model server', async () => {
    server = await scripted({ '/v1/models': act((response) => void response.end('<html>')) })
    await expect(open()).rejects.toThrow('is not a model server: it has no /v1/models')
  })

  it('a response that breaks off', async () => {
    server = await scripted({
      '/v1/models': models,
      '/v1/completions': act((response) => {
        response.writeHead(200, { 'content-length': '1000' })
        response.write('data: {"choices":[{"text":"fi"}]}\n\n')
        setTimeout(() => response.destroy(), 20)
      }),
    })
    await expect((await open()).sample(request)).rejects.toThrow(/broke off after 1 parts/)
  })

  it('a response that stalls', async () => {
    server = await scripted({
      '/v1/models': models,
      '/v1/completions': act((response) => void response.write('data: {"choices":[{"text":"fi"}]}\n\n')),
    })
    const engine = await open({ timeoutSeconds: 0.2 })
    await expect(engine.sample(request)).rejects.toThrow(/broke off after 1 parts: no data for 0.2 seconds/)
  })

  it('a response with an error', async () => {
    server = await scripted({
      '/v1/models': models,
      '/v1/completions': new Stream([{ error: { message: 'engine died' } }]),
    })
    await expect((await open()).sample(request)).rejects.toThrow('the server reported an error: engine died')
  })
})

describe('cancellation', () => {
  const endless = {
    '/v1/models': models,
    '/v1/completions': act((response) => {
      response.write('data: {"choices":[{"text":"fi"}]}\n\n')
    }),
  }

  it('a signal aborts immediately, with its own reason', async () => {
    server = await scripted(endless)
    const engine = await open()
    const controller = new AbortController()
    const pending = engine.sample({ ...request, count: 2, signal: controller.signal })
    setTimeout(() => controller.abort(new Error('enough')), 50)
    await expect(pending).rejects.toThrow('enough')
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(server.requestsTo('/v1/completions').map(({ left }) => left)).toEqual([true, true])
    await expect(engine.sample({ ...request, signal: controller.signal })).rejects.toThrow('enough')
  })

  it('a signal aborts the wait for a retry', async () => {
    server = await scripted({
      '/v1/models': models,
      '/v1/completions': act((response) => send(response, 503, {})),
    })
    const engine = await open({ firstWait: 60_000 })
    await expect(engine.sample({ ...request, signal: AbortSignal.timeout(100) })).rejects.toThrow(/timeout/)
  })

  it('closing aborts requests in progress', async () => {
    server = await scripted(endless)
    const engine = await open()
    const pending = engine.sample(request)
    setTimeout(() => void engine.close(), 50)
    await expect(pending).rejects.toThrow('The engine is closed.')
  })
})

it('rejects everything but sampling, and invalid requests', async () => {
  server = await scripted({ '/v1/models': models, '/v1/completions': text })
  const engine = await open({ contextLength: 8 })
  const note = { stage: 'sft', step: 0, createdAt: '2026-01-01T00:00:00Z' } as const
  for (const [act, message] of [
    [() => engine.forward([]), 'cannot compute the log-probabilities of given tokens'],
    [() => engine.forwardBackward([], { kind: 'cross-entropy' }), 'cannot train'],
    [() => engine.optimStep({ learningRate: 1 }), 'cannot train'],
    [() => engine.save('nowhere', note), 'cannot save'],
    [() => engine.load('nowhere'), 'cannot load'],
    [() => engine.sample({ prompt: [], maxTokens: 1 }), 'the prompt is empty'],
    [
      () => engine.sample({ prompt: Array(8).fill(65), maxTokens: 1 }),
      "8 tokens, but the model's context is 8",
    ],
    [() => engine.sample({ prompt: [65], maxTokens: 0 }), 'maxTokens is 0'],
    [() => engine.sample({ prompt: [65], maxTokens: 1, temperature: -1 }), 'temperature is -1'],
  ] as const) {
    const rejection = (await act().catch((error: unknown) => error)) as EngineError
    expect(rejection).toBeInstanceOf(EngineError)
    expect(rejection.message).toContain(message)
  }
})
