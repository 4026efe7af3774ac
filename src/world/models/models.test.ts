import { MockLanguageModelV4 } from 'ai/test'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ModelError } from '../../base/errors/index.ts'
import { type OpenAiServer, startOpenAiServer } from '../../testing/openai-server.ts'
import { modelFrom, modelFromSettings, openEmbedder, openModel } from './index.ts'

let server: OpenAiServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

async function serve(...[script]: Parameters<typeof startOpenAiServer>): Promise<OpenAiServer> {
  server = await startOpenAiServer(script)
  return server
}

const quick = { timeoutMs: 5000, retries: 2 }

async function failure(work: Promise<unknown>): Promise<ModelError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof ModelError) return error
  throw new Error(`expected a ModelError, got ${String(error)}`)
}

describe('complete', () => {
  it('sends the request and reads text, usage and finish reason', async () => {
    const { baseUrl, requests } = await serve([
      { text: 'hello', finish: 'length', usage: { prompt_tokens: 7, completion_tokens: 3 } },
    ])
    const model = openModel({ baseUrl, model: 'm', apiKey: 'k', headers: { 'x-team': 't' }, ...quick })
    const completion = await model.complete({
      system: 'be brief',
      prompt: 'hi',
      temperature: 0.5,
      maxTokens: 9,
      seed: 3,
      stop: ['\n'],
    })
    expect(completion).toEqual({
      text: 'hello',
      attempts: 1,
      usage: { prompt: 7, completion: 3 },
      finish: 'length',
      ms: expect.any(Number),
    })
    expect(requests[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer k', 'x-team': 't' },
      body: {
        model: 'm',
        temperature: 0.5,
        max_tokens: 9,
        seed: 3,
        stop: ['\n'],
        messages: [
          { role: 'system', content: 'be brief' },
          { role: 'user', content: 'hi' },
        ],
      },
    })
  })

  it('redacts a key that the server repeats, even part of it', async () => {
    const apiKey = 'sk-models-0123456789abcdefghijklmnopqrstuvwxyz'
    // Positioned so that the excerpt would cut it in two.
    const { baseUrl } = await serve([{ status: 401, error: `${'x'.repeat(180)} ${apiKey} is not a key` }])
    const { message, fix } = await failure(
      openModel({ baseUrl, model: 'm', apiKey, ...quick }).complete({ prompt: 'hi' }),
    )
    expect(message).toContain('[redacted]')
    expect(`${message} ${fix}`).not.toContain('sk-models')
  })

  it.each([
    'http://me:hunter2hunter2@localhost/v1',
    'http://localhost/v1?token=hunter2hunter2',
    'ftp://me:hunter2hunter2@h',
  ])('rejects %s without repeating the secret', (baseUrl) => {
    expect(() => openModel({ baseUrl, model: 'm' })).toThrow(ModelError)
    expect(() => openModel({ baseUrl, model: 'm' })).not.toThrow(/hunter2/)
  })

  it('accepts full conversations, and a URL copied with its path', async () => {
    const { baseUrl, requests } = await serve(['ok'])
    const messages = [
      { role: 'system' as const, content: 's' },
      { role: 'user' as const, content: 'u' },
      { role: 'assistant' as const, content: 'a' },
      { role: 'user' as const, content: 'u2' },
    ]
    await openModel({ baseUrl: `${baseUrl}/chat/completions`, model: 'm', ...quick }).complete({ messages })
    expect(requests[0]?.body['messages']).toEqual(messages)
    expect(requests[0]?.headers.authorization).toBeUndefined()
  })

  it('retries after 429, 5xx and a lost connection, and respects retry-after', async () => {
    const { baseUrl, requests } = await serve([
      { status: 429, headers: { 'retry-after': '1' } },
      { status: 503 },
      { hangUp: true },
      'at last',
    ])
    const started = performance.now()
    const { text } = await openModel({ baseUrl, model: 'm', retries: 3 }).complete({ prompt: 'p' })
    expect(text).toBe('at last')
    expect(requests).toHaveLength(4)
    expect(performance.now() - started).toBeGreaterThan(1900)
  })

  it('does not wait for an hour, and does not retry permanent failures', async () => {
    const closed = await serve([{ status: 429, headers: { 'retry-after': '3600' } }])
    expect(
      (await failure(openModel({ baseUrl: closed.baseUrl, model: 'm' }).complete({ prompt: 'p' }))).fix,
    ).toContain('limit')
    expect(closed.requests).toHaveLength(1)
  })

  it.each([
    [{ status: 401 }, undefined, 'API key is required'],
    [{ status: 401 }, 'k', 'key was rejected'],
    [{ status: 404, error: 'The model `m` does not exist' }, 'k', 'has a model named "m"'],
    [{ status: 400, error: 'bad temperature' }, 'k', 'Correct what'],
  ])('%j with key %s is one clear failure', async (reply, apiKey, fix) => {
    const { baseUrl, requests } = await serve([reply])
    const error = await failure(
      openModel({ baseUrl, model: 'm', ...quick, ...(apiKey === undefined ? {} : { apiKey }) }).complete({
        prompt: 'p',
      }),
    )
    expect(error.fix).toContain(fix)
    expect(error.transient).toBe(false)
    expect(requests).toHaveLength(1)
  })

  it('reports an unreachable server and an invalid URL', async () => {
    const error = await failure(
      openModel({ baseUrl: 'http://127.0.0.1:9/v1', model: 'm', retries: 0 }).complete({ prompt: 'p' }),
    )
    expect(error.message).toContain('cannot be reached')
    expect(error.fix).toContain('server is running')
    expect(() => openModel({ baseUrl: 'localhost:8000', model: 'm' })).toThrow('not a valid model server URL')
  })

  it('applies the timeout per attempt, and stops immediately when aborted', async () => {
    const { baseUrl, requests } = await serve((_, index) => ({
      delayMs: index === 0 ? 3000 : 0,
      text: 'second',
    }))
    const model = openModel({ baseUrl, model: 'm', timeoutMs: 300, retries: 1 })
    expect((await model.complete({ prompt: 'p' })).text).toBe('second')
    expect(requests).toHaveLength(2)
    await server?.close()
    const slow = await serve([{ delayMs: 3000 }])
    const controller = new AbortController()
    const call = openModel({ baseUrl: slow.baseUrl, model: 'm', ...quick }).complete({
      prompt: 'p',
      signal: controller.signal,
    })
    setTimeout(() => controller.abort(new Error('enough')), 100)
    await expect(call).rejects.toThrow('enough')
    const late = failure(
      openModel({ baseUrl: slow.baseUrl, model: 'm', timeoutMs: 100, retries: 0 }).complete({ prompt: 'p' }),
    )
    expect((await late).message).toContain('within 0.1 s')
  })

  it('limits concurrency, and aborted requests do not block the queue', async () => {
    const { baseUrl, mostAtOnce } = await serve(() => ({ delayMs: 30, text: 'x' }))
    const model = openModel({ baseUrl, model: 'm', concurrency: 3, ...quick })
    const gone = AbortSignal.timeout(15)
    const calls = Array.from({ length: 12 }, (_, index) =>
      model.complete({ prompt: `${index}`, ...(index % 4 === 3 ? { signal: gone } : {}) }),
    )
    const settled = await Promise.allSettled(calls)
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(9)
    expect(mostAtOnce()).toBeLessThanOrEqual(3)
  })
})

describe('complete with a schema', () => {
  const schema = z.object({ verdict: z.enum(['yes', 'no']), score: z.number() })
  const good = '{"verdict":"yes","score":1}'

  it('sends the schema to the server', async () => {
    const { baseUrl, requests } = await serve([good])
    const { object } = await openModel({ baseUrl, model: 'm', ...quick }).complete({ prompt: 'p', schema })
    expect(object).toEqual({ verdict: 'yes', score: 1 })
    expect(requests[0]?.body).toMatchObject({ response_format: { type: 'json_schema' } })
  })

  it.each([`\`\`\`json\n${good}\n\`\`\``, `<think>{ hm }</think>Here: ${good}`])('reads %j', async (text) => {
    const { baseUrl, requests } = await serve([text])
    const { object } = await openModel({ baseUrl, model: 'm', ...quick }).complete({ prompt: 'p', schema })
    expect(object.verdict).toBe('yes')
    expect(requests).toHaveLength(1)
  })

  it('describes it in the prompt if the server rejects or ignores it', async () => {
    const refusing = await serve(({ body }) =>
      body['response_format'] === undefined
        ? good
        : { status: 400, error: 'response_format is not supported' },
    )
    const model = openModel({ baseUrl: refusing.baseUrl, model: 'm', ...quick })
    expect((await model.complete({ prompt: 'p', schema })).object.score).toBe(1)
    await model.complete({ prompt: 'p', schema })
    // Remembered: the second request is sent only once.
    expect(refusing.requests).toHaveLength(3)
    expect(JSON.stringify(refusing.requests[2]?.body['messages'])).toContain('JSON Schema')
    await server?.close()
    const ignoring = await serve(['certainly!', good])
    const second = await openModel({ baseUrl: ignoring.baseUrl, model: 'm', ...quick }).complete({
      prompt: 'p',
      schema,
    })
    expect(second.object.verdict).toBe('yes')
    expect(JSON.stringify(ignoring.requests[1]?.body['messages'])).toContain('JSON Schema')
  })

  it('fails and quotes the answer if none matches', async () => {
    const { baseUrl } = await serve(['{"verdict":"maybe","score":1}'])
    const error = await failure(
      openModel({ baseUrl, model: 'm', retries: 1 }).complete({ prompt: 'p', schema }),
    )
    expect(error.message).toContain('verdict')
    expect(error.message).toContain('maybe')
  })
})

describe('embed', () => {
  it('works in batches, in order, and truncates long texts between characters', async () => {
    const { baseUrl, requests } = await serve([''])
    const embedder = openEmbedder({ baseUrl, model: 'e', batch: 2, maxCharacters: 6, ...quick })
    const vectors = await embedder.embed(['alpha', 'beta', 'alpha', '', 'gamma😀'])
    expect(vectors).toHaveLength(5)
    expect(vectors[0]).toEqual(vectors[2])
    expect(vectors[0]).not.toEqual(vectors[1])
    expect(requests.map(({ body }) => body['input'])).toEqual([['alpha', 'beta'], ['alpha', ' '], ['gamma']])
    expect(await embedder.embed([])).toEqual([])
  })

  it('sends no more requests once a batch has failed', async () => {
    const { baseUrl, requests } = await serve((_, index) => (index === 0 ? { status: 400 } : { delayMs: 50 }))
    const embedder = openEmbedder({ baseUrl, model: 'e', batch: 1, concurrency: 1, ...quick })
    expect((await failure(embedder.embed(['a', 'b', 'c', 'd']))).message).toContain('400')
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(requests.length).toBeLessThanOrEqual(2)
  })

  it('retries, and reports what is wrong', async () => {
    const { baseUrl } = await serve([{ status: 500 }, ''])
    expect(await openEmbedder({ baseUrl, model: 'e', ...quick }).embed(['x'])).toHaveLength(1)
    await server?.close()
    const missing = await serve([{ status: 404, error: 'model not found' }])
    const error = await failure(openEmbedder({ baseUrl: missing.baseUrl, model: 'e', ...quick }).embed(['x']))
    expect(error.fix).toContain('"e"')
  })
})

it('wraps any AI SDK language model', async () => {
  const model = modelFrom(
    new MockLanguageModelV4({
      modelId: 'mock',
      doGenerate: async () => ({
        content: [{ type: 'text', text: 'hello' }],
        finishReason: { unified: 'stop', raw: 'stop' },
        usage: {
          inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
        warnings: [],
      }),
    }),
  )
  expect(model.name).toBe('mock')
  expect(await model.complete({ prompt: 'p' })).toMatchObject({
    text: 'hello',
    usage: { prompt: 3, completion: 1 },
    finish: 'stop',
  })
  const failing = modelFrom(
    new MockLanguageModelV4({
      doGenerate: async () => {
        throw new Error('no weights')
      },
    }),
  )
  expect((await failure(failing.complete({ prompt: 'p' }))).message).toContain('no weights')
})

describe('modelFromSettings', () => {
  const settings = { key_env: 'MY_KEY', timeout_s: 5, retries: 0, concurrency: 1 }

  it('reads the key from the configured environment variable', async () => {
    const { baseUrl, requests } = await serve(['ok'])
    const model = modelFromSettings('judge', { ...settings, base_url: baseUrl, model: 'm' }, { MY_KEY: 's' })
    await model?.complete({ prompt: 'p' })
    expect(requests[0]?.headers.authorization).toBe('Bearer s')
  })

  it('is undefined if none is configured, and reports missing settings', () => {
    expect(modelFromSettings('judge', settings, {})).toBeUndefined()
    expect(() => modelFromSettings('judge', { ...settings, model: 'm' }, {})).toThrow(
      '[judge] has no base_url',
    )
  })
})
