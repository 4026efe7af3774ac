import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { pickByMajority } from '../../src/agent/index.ts'
import { ModelError } from '../../src/base/errors/index.ts'
import type { Picker } from '../../src/serve/service.ts'
import { settings, worldOf, writes } from '../rollout/fixtures.ts'
import { answer, eventsOf, startTestServer, stopServers, type TestServer } from './support.ts'

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})
afterEach(stopServers)

interface Failed {
  error: { message: string; type: string; code: string | null; param: string | null }
}
interface Completed {
  id: string
  choices: {
    index: number
    message: { content: string; reasoning_content: string; coa: Record<string, never> }
    finish_reason: string
  }[]
  usage: Record<string, number>
}
const chat = async (fields: Record<string, unknown> = {}, on = server): Promise<Completed> =>
  (await (await on.chat(fields)).json()) as Completed
/** The content of streamed chunks, joined. */
const contentOf = (events: Record<string, unknown>[]): string =>
  events
    .flatMap(({ choices }) => choices as { delta: { content?: string } }[])
    .map(({ delta }) => delta.content ?? '')
    .join('')
async function failure(response: Response | Promise<Response>): Promise<[number, Failed['error']]> {
  const { status, headers } = await response
  expect(headers.get('x-request-id')).toMatch(/^req_/)
  const body = (await (await response).json()) as Failed
  expect(Object.keys(body.error).sort()).toEqual(['code', 'message', 'param', 'type'])
  return [status, body.error]
}

describe('errors', () => {
  const user = { role: 'user', content: 'Hi' }
  it.each<[string, Record<string, unknown>, string | null, string | null]>([
    ['no messages', { messages: [] }, 'messages', 'invalid_value'],
    ['an unknown role', { messages: [{ role: 'robot', content: 'x' }] }, 'messages.0.role', 'invalid_value'],
    [
      'an image',
      { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
      'messages',
      'unsupported_parameter',
    ],
    ['the assistant last', { messages: [user, { role: 'assistant', content: 'x' }] }, 'messages', null],
    [
      'a tool result',
      { messages: [user, { role: 'tool', tool_call_id: 'c', content: 'x' }] },
      'messages',
      null,
    ],
    ['functions', { functions: [{ name: 'f' }] }, 'functions', 'unsupported_parameter'],
    ['tools', { tools: [{ type: 'function', function: { name: 'f' } }] }, 'tools', 'unsupported_parameter'],
    ['a named tool', { tool_choice: { type: 'function' } }, 'tool_choice', 'unsupported_parameter'],
    [
      'JSON answers',
      { response_format: { type: 'json_object' } },
      'response_format',
      'unsupported_parameter',
    ],
    ['log-probabilities', { logprobs: true }, 'logprobs', 'unsupported_parameter'],
    ['a bias', { logit_bias: { 5: 1 } }, 'logit_bias', 'unsupported_parameter'],
    ['a penalty', { presence_penalty: 0.5 }, 'presence_penalty', 'unsupported_parameter'],
    ['audio', { modalities: ['text', 'audio'] }, 'modalities', 'unsupported_parameter'],
    ['a hot temperature', { temperature: 3 }, 'temperature', 'invalid_value'],
    ['too many stops', { stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop', 'invalid_value'],
    ['too many chains', { n: 17 }, null, null],
    ['n of the best', { n: 2, coa: { best_of: 2 } }, 'n', 'unsupported_parameter'],
    ['the best of equals', { temperature: 0, coa: { best_of: 2 } }, null, null],
    [
      'a prompt that is far too long',
      { messages: [{ role: 'user', content: 'x'.repeat(3_500_000) }] },
      'messages',
      'context_length_exceeded',
    ],
    [
      'a prompt that is too long',
      { messages: [{ role: 'user', content: 'x'.repeat(120_000) }] },
      'messages',
      'context_length_exceeded',
    ],
  ])('%s: 400', async (_, fields, param, code) => {
    const [status, error] = await failure(server.chat(fields))
    expect([status, error.type, error.param, error.code]).toEqual([400, 'invalid_request_error', param, code])
    // A stream that would fail is refused before it begins.
    expect((await server.chat({ ...fields, stream: true })).status).toBe(400)
    expect(server.rollouts).toEqual([])
  })

  it.each<[string, Record<string, unknown>]>([
    [
      'null',
      {
        temperature: null,
        n: null,
        stop: null,
        tools: null,
        max_tokens: null,
        logprobs: null,
        tool_choice: null,
      },
    ],
    [
      'nothing',
      { tools: [], logit_bias: {}, presence_penalty: 0, logprobs: false, response_format: { type: 'text' } },
    ],
    [
      'known and unknown fields',
      {
        user: 'u',
        metadata: {},
        store: true,
        service_tier: 'auto',
        verbosity: 'low',
        reasoning_effort: 'high',
        new_field: [1],
      },
    ],
  ])('%s asks for nothing special', async (_, fields) => {
    expect((await chat(fields)).choices[0]!.message.content).toBe(answer)
  })

  it('what is not a request', async () => {
    const path = '/v1/chat/completions'
    expect(await failure(server.post(path, '{"model": "mine", '))).toMatchObject([
      400,
      { code: 'invalid_json' },
    ])
    expect(await failure(server.post(path, '[]'))).toMatchObject([
      400,
      { message: expect.stringContaining('not a JSON object') },
    ])
    expect(await failure(server.post(path, 'null'))).toMatchObject([400, {}])
    expect(await failure(server.post(path, '{}', { 'content-type': 'text/plain' }))).toMatchObject([415, {}])
    expect(await failure(server.post(path, { model: 'other', messages: [user] }))).toMatchObject([
      404,
      { type: 'not_found_error', code: 'model_not_found', param: 'model' },
    ])
    expect(await failure(server.post('/v1/completions', {}))).toMatchObject([404, { code: 'unknown_url' }])
    expect(await failure(fetch(`${server.base}/chat/completions`))).toMatchObject([405, {}])
    expect(await failure(fetch(`${server.url}/%00/../etc`))).toMatchObject([404, {}])
  })

  it('a body of any size: 413, without keeping it', async () => {
    const small = await startTestServer({ serve: { body_mb: 0.01 } })
    const huge = 'x'.repeat(20_000_000)
    expect(await failure(small.chat({ messages: [{ role: 'user', content: huge }] }))).toMatchObject([
      413,
      { code: 'request_too_large' },
    ])
    expect((await small.chat({})).status).toBe(200)
  })

  it('a chain that fails: 502, not to be repeated, also in a stream', async () => {
    const broken = await startTestServer({
      policy: {
        ...server.service.parts.policy,
        engine: {
          ...server.service.parts.policy.engine,
          sample: () => Promise.reject(new ModelError('the server is gone')),
        },
      },
    })
    const response = await broken.chat({})
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(await failure(response)).toMatchObject([502, { type: 'server_error', code: 'model_failed' }])
    const events = await eventsOf(await broken.chat({ stream: true }))
    expect(events.at(-1)).toMatchObject({ error: { message: 'the chain failed: the server is gone' } })
    const input = { model: 'mine', input: 'Hi', stream: true }
    const items = await eventsOf(await broken.post('/v1/responses', input))
    expect(items.slice(-2)).toMatchObject([
      { type: 'error', message: 'the chain failed: the server is gone', error: { code: 'model_failed' } },
      { type: 'response.failed', response: { status: 'failed', error: { code: 'model_failed' } } },
    ])
    expect(broken.rollouts).toHaveLength(3)
  })

  it('a tool that fails is a part of the chain', async () => {
    const failing = await startTestServer({
      world: worldOf(async () => {
        throw new Error('out of order')
      }),
    })
    const events = await eventsOf(
      await failing.post('/v1/responses', { model: 'mine', input: 'Hi', stream: true }),
    )
    const { output } = events.at(-1)!['response'] as { output: Record<string, unknown>[] }
    expect(output[1]).toMatchObject({
      status: 'failed',
      coa: { outcome: 'environment', output: 'code failed: out of order' },
    })
  })
})

describe('responses', () => {
  const ask = async (fields: Record<string, unknown>, on = server): Promise<Record<string, unknown>> =>
    (await (await on.post('/v1/responses', { model: 'mine', input: 'Hi', ...fields })).json()) as Record<
      string,
      unknown
    >

  it('has all fields of the API', async () => {
    const response = await ask({ metadata: { a: 'b' }, instructions: 'Be brief.' })
    expect(Object.keys(response)).toHaveLength(32)
    expect(response).toMatchObject({ temperature: 1, top_p: 1, store: true })
    expect(response).toMatchObject({
      status: 'completed',
      error: null,
      metadata: { a: 'b' },
      coa: { stop: 'answer' },
    })
    expect(server.rollouts[0]!.prompt.at(-1)!.content).toBe('Instructions:\nBe brief.\n\nQuestion:\nHi')
  })

  it('knows the latest responses only, and none that are not to be stored', async () => {
    const small = await startTestServer({ serve: { stored: 1 } })
    const [first, second] = [await ask({}, small), await ask({}, small)]
    const third = await ask({ store: false }, small)
    const statuses = await Promise.all(
      [first, second, third].map(async ({ id }) => (await fetch(`${small.base}/responses/${id}`)).status),
    )
    expect(statuses).toEqual([404, 200, 404])
    const items = (await (await fetch(`${small.base}/responses/${second['id']}/input_items`)).json()) as {
      data: unknown[]
    }
    expect(items.data).toMatchObject([{ role: 'user', content: 'Hi' }])
    expect((await ask({ previous_response_id: first['id'] }, small))['error']).toMatchObject({
      code: 'response_not_found',
    })
    expect(
      (await ask({ input: [{ type: 'item_reference', id: 'msg_none' }] }, small))['error'],
    ).toMatchObject({ code: 'item_not_found' })
  })

  it('without tools, the prompt has none', async () => {
    await ask({ tool_choice: 'none' })
    expect(server.rollouts[0]!.prompt[0]!.content).not.toContain('<code>')
  })

  it('built-in tools narrow what the model may call', async () => {
    const system = async (tools: unknown[]): Promise<string> => {
      await ask({ tools })
      return server.rollouts.at(-1)!.prompt[0]!.content
    }
    const whole = await system([])
    expect(await system([{ type: 'code_interpreter', container: { type: 'auto' } }])).toBe(whole)
    expect(await system([{ type: 'mcp', server_label: 'coa' }])).toBe(whole)
    expect((await ask({ tools: [{ type: 'web_search' }] }))['error']).toMatchObject({ param: 'tools' })
    expect((await ask({ tools: [{ type: 'file_search' }] }))['error']).toMatchObject({
      code: 'unsupported_parameter',
    })
  })

  it.each<[string, Record<string, unknown>]>([
    ['background', { background: true }],
    ['a conversation', { conversation: 'c' }],
    ['a prompt', { prompt: { id: 'p' } }],
    ['JSON', { text: { format: { type: 'json_schema' } } }],
    ['functions', { tools: [{ type: 'function', name: 'f' }] }],
    ['an image', { input: [{ role: 'user', content: [{ type: 'input_image' }] }] }],
    ['an output without a call', { input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }],
  ])('%s: 400', async (_, fields) => {
    expect((await failure(server.post('/v1/responses', { model: 'mine', input: 'Hi', ...fields })))[0]).toBe(
      400,
    )
  })

  it('a chain that met a limit is complete, and says so', async () => {
    const response = await ask({ max_output_tokens: 20 })
    expect(response).toMatchObject({ status: 'completed', coa: { stop: 'tokens', tokens: { sampled: 20 } } })
    const output = response['output'] as { content: { text: string }[] }[]
    expect(output.at(-1)!.content[0]!.text).toContain('it wrote as much as it may')
  })
})

describe('what a request may ask for', () => {
  it('several answers, and the same ones with the same seed', async () => {
    const random = (_: string, request: number): string =>
      `<think>t</think><plan>p</plan><think>t</think><answer>${(request % 3) + 1}</answer>`
    const seeds: number[] = []
    const { policy } = (await startTestServer({ write: random })).service.parts
    const several = await startTestServer({
      policy: {
        ...policy,
        engine: {
          ...policy.engine,
          sample: (request) => {
            seeds.push(request.seed!)
            expect(request).toMatchObject({ temperature: 0.5, topP: 0.9 })
            return policy.engine.sample(request)
          },
        },
      },
    })
    const fields = { n: 3, seed: 5, temperature: 0.5, top_p: 0.9 }
    const whole = await chat(fields, several)
    expect(whole.choices.map(({ index, message }) => [index, message.content])).toEqual([
      [0, '1'],
      [1, '2'],
      [2, '3'],
    ])
    const events = await eventsOf(await several.chat({ ...fields, stream: true }))
    expect(new Set(seeds).size).toBe(3)
    expect(seeds.slice(3)).toEqual(seeds.slice(0, 3))
    const finished = events.filter(
      ({ choices }) => (choices as { finish_reason: unknown }[])[0]?.finish_reason === 'stop',
    )
    expect(finished).toHaveLength(3)
  })

  it('the best of several: only that one is shown', async () => {
    let next = 0
    const guesses = ['4', '5', '5']
    const write = writes(
      () => `<think>t${next}</think><plan>p</plan><think>t</think><answer>${guesses[next++ % 3]}</answer>`,
    )
    const picked: number[] = []
    const picker: Picker = {
      assertFits: () => {},
      pick: async ({ candidates, grammar }) => {
        picked.push(candidates.length)
        return pickByMajority(candidates, grammar)
      },
    }
    const several = await startTestServer({ write, picker })
    const { choices, usage } = await chat({ coa: { best_of: 3, pick: 'majority' } }, several)
    expect(choices).toHaveLength(1)
    expect(choices[0]!.message).toMatchObject({
      content: '5',
      coa: { pick: { by: 'majority', reason: '2 of 3 agree', candidates: ['4', '5', '5'] } },
    })
    const sampled = several.rollouts.map(({ spans }) => spans.flatMap(({ tokens = [] }) => tokens).length)
    expect(usage['completion_tokens']).toBe(sampled.reduce((sum, count) => sum + count, 0))
    const events = await eventsOf(await several.chat({ stream: true, coa: { best_of: 3 } }))
    const text = contentOf(events)
    expect([text, picked]).toEqual(['5', [3, 3]])
  })

  it('stop strings end the answer, not the chain', async () => {
    const { choices } = await chat({ stop: [', ', 'plan', '{9'] })
    expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: '\\boxed{5}' } })
    expect(choices[0]!.message.reasoning_content).toContain('plan: Run a program.')
    const events = await eventsOf(await server.chat({ stop: ', ', stream: true }))
    const text = contentOf(events)
    expect(text).toBe('\\boxed{5}')
  })

  it('a limit of tokens, which does not count what tools insert', async () => {
    const { choices, usage } = await chat({ max_completion_tokens: 30 })
    expect([choices[0]!.finish_reason, usage['completion_tokens']]).toEqual(['length', 30])
    const long = await startTestServer({ world: worldOf(async () => ({ text: 'x'.repeat(1000) })) })
    const whole = await chat({}, long)
    const enough = await chat({ max_tokens: whole.usage['completion_tokens'] }, long)
    expect(enough.choices[0]!.finish_reason).toBe('stop')
    expect(enough.usage['completion_tokens']).toBeLessThan(settings.maxTokens)
  })

  it('a conversation with instructions', async () => {
    await chat({
      messages: [
        { role: 'system', content: 'Answer in one word.' },
        { role: 'user', content: 'Who?' },
        { role: 'assistant', content: 'Ada', reasoning_content: 'think: …' },
        { role: 'assistant', content: null, tool_calls: [] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'And ' },
            { type: 'text', text: 'when?' },
          ],
        },
      ],
    })
    expect(server.rollouts[0]!.prompt.at(-1)!.content).toBe(
      'Instructions:\nAnswer in one word.\n\nEarlier in this conversation:\nUser: Who?\nAssistant: Ada\n\nQuestion:\nAnd when?',
    )
  })
})
