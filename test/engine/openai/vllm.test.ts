import { afterEach, describe, expect, it } from 'vitest'
import { type Engine, openOpenAI } from '../../../src/engine/index.ts'
import { byteTokenizer } from '../../../src/language/tokens/index.ts'
import { Stream, scripted } from './scripted-server.ts'

const tokenizer = byteTokenizer()
const ids = (text: string): number[] => [...Buffer.from(text)]
let server: Awaited<ReturnType<typeof scripted>>
let engine: Engine
afterEach(async () => {
  await engine?.close()
  server.close()
})

const closely = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 5) as number)
const unknown = (count: number) => Array(count).fill(Number.NaN)

describe('vLLM', () => {
  const models = { data: [{ id: 'qwen', owned_by: 'vllm', max_model_len: 64 }] }
  interface Body {
    temperature: number
    max_tokens: number
    logprobs: number
    top_k: number
    allowed_token_ids?: number[]
  }
  /** One event per token, as written by its completion_stream_generator. */
  const answer = (text: string, { old = false, end = 'length' } = {}): Stream =>
    new Stream([
      ...ids(text).map((id, index) => ({
        id: 'cmpl-1',
        object: 'text_completion',
        choices: [
          {
            index: 0,
            text: String.fromCharCode(id),
            logprobs: {
              text_offset: [index],
              token_logprobs: [-0.5 - index],
              tokens: [`token_id:${id}`],
              top_logprobs: [{ [`token_id:${id}`]: -0.5 - index }],
            },
            finish_reason: index === text.length - 1 ? end : null,
            stop_reason: null,
            ...(old ? {} : { token_ids: [id] }),
          },
        ],
      })),
      { choices: [], usage: { prompt_tokens: 3, prompt_tokens_details: { cached_tokens: 2 } } },
    ])
  const open = async (complete: (body: Body) => Stream, options = {}) => {
    server = await scripted({
      '/v1/models': models,
      '/version': { version: '0.11.0' },
      '/v1/completions': complete as (body: never) => Stream,
    })
    engine = await openOpenAI({ url: `${server.url}/v1/`, tokenizer, firstWait: 1, ...options })
    return engine
  }

  it('works with ids and reports log-probabilities', async () => {
    await open(() => answer('abc'))
    expect(engine.describe()).toMatchObject({
      driver: 'openai',
      device: `qwen on vLLM at ${server.url}`,
      contextLength: 64,
      vocabularySize: 259,
    })
    expect(engine.describe().missing).toEqual({ train: 'servers with the OpenAI API only sample' })
    const streamed: number[] = []
    const [sample] = await engine.sample({
      prompt: ids('xyz'),
      maxTokens: 3,
      seed: 7,
      stopTokens: [256],
      onToken: (token) => streamed.push(token),
    })
    expect([...sample!.tokens]).toEqual(ids('abc'))
    expect(streamed).toEqual(ids('abc'))
    expect([...sample!.logprobs]).toEqual(closely([-0.5, -1.5, -2.5]))
    expect([...sample!.modelLogprobs]).toEqual(closely([-0.5, -1.5, -2.5]))
    expect(sample).toMatchObject({ stopped: 'length', reused: 2 })
    expect(server.requestsTo('/v1/completions').at(-1)!.body).toMatchObject({
      model: 'qwen',
      prompt: ids('xyz'),
      max_tokens: 3,
      temperature: 1,
      top_p: 1,
      top_k: -1,
      min_p: 0,
      repetition_penalty: 1,
      seed: 7,
      stop_token_ids: [256],
      ignore_eos: true,
      return_token_ids: true,
      stream: true,
    })
  })

  it('reads the ids that older versions put into their log-probabilities', async () => {
    await open(() => answer('hi', { old: true }))
    const [sample] = await engine.sample({ prompt: ids('x'), maxTokens: 2 })
    expect([...sample!.tokens]).toEqual(ids('hi'))
    expect(engine.describe().missing.logprobs).toBe(undefined)
  })

  it('reports NaN for unknown log-probabilities: raw ones with a temperature', async () => {
    await open(() => answer('ab'))
    const [warm] = await engine.sample({ prompt: ids('x'), maxTokens: 2, temperature: 0.7 })
    expect([...warm!.logprobs]).toEqual(unknown(2))
    expect([...warm!.modelLogprobs]).toEqual(closely([-0.5, -1.5]))
    const [greedy] = await engine.sample({ prompt: ids('x'), maxTokens: 2, temperature: 0 })
    expect([...greedy!.logprobs]).toEqual([0, 0])
  })

  it('detects when the server reports the sampling distribution', async () => {
    // With --logprobs-mode processed_logprobs, the only token left by top_k 1 has probability 1.
    const certain = (body: Body): Stream => {
      const stream = answer('a')
      if (body.top_k !== 1) return stream
      const [event] = stream.parts as { choices: { logprobs: { token_logprobs: number[] } }[] }[]
      event!.choices[0]!.logprobs.token_logprobs = [0]
      return stream
    }
    await open(certain)
    const [sample] = await engine.sample({ prompt: ids('x'), maxTokens: 1, temperature: 0.7, topP: 0.9 })
    expect([...sample!.logprobs]).toEqual(closely([-0.5]))
    expect([...sample!.modelLogprobs]).toEqual(unknown(1))
  })

  it('stops at a string that spans tokens, and disconnects', async () => {
    await open(() => answer('see </answer> and much more'))
    const [sample] = await engine.sample({ prompt: ids('x'), maxTokens: 40, stopTexts: ['</answer>'] })
    expect(tokenizer.decode(sample!.tokens)).toBe('see </answer>')
    expect(sample!.stopped).toBe('text')
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(server.requestsTo('/v1/completions').at(-1)!.left).toBe(true)
  })

  it('requests each continuation separately, with its own seed, within the context', async () => {
    await open(() => answer('abc'))
    const samples = await engine.sample({ prompt: Array(62).fill(65), maxTokens: 9, count: 3, seed: 5 })
    const bodies = server.requestsTo('/v1/completions').slice(2)
    expect(bodies.map(({ body }) => body.seed as number).sort()).toEqual([5, 6, 7])
    expect(bodies.map(({ body }) => body.max_tokens as number)).toEqual([2, 2, 2])
    expect(samples.map(({ stopped, tokens }) => [stopped, tokens.length])).toEqual(
      Array(3).fill(['context', 2]),
    )
  })

  it('requests one token at a time with a mask', async () => {
    await open(({ allowed_token_ids: allowed, max_tokens: count }) =>
      count === 1 && allowed !== undefined ? answer(String.fromCharCode(allowed[0]!)) : answer('q'),
    )
    const mask = (...allowed: number[]): Uint8Array =>
      Uint8Array.from({ length: 259 }, (_, id) => (allowed.includes(id) ? 1 : 0))
    const masks = [mask(98, 99), undefined, mask(100), mask()]
    const [sample] = await engine.sample({
      prompt: ids('x'),
      maxTokens: 9,
      seed: 1,
      allowed: (tokens) => masks[tokens.length],
    })
    expect(tokenizer.decode(sample!.tokens)).toBe('bqd')
    expect(sample!.stopped).toBe('nothing-allowed')
    const bodies = server.requestsTo('/v1/completions').slice(2)
    expect(bodies.map(({ body }) => body.prompt as number[])).toEqual([ids('x'), ids('xb'), ids('xbq')])
    expect(bodies[0]!.body.allowed_token_ids).toEqual([98, 99])
    expect(new Set(bodies.map(({ body }) => body.seed as number)).size).toBe(3)
    // Sampled from a subset: the probability differs from the model's.
    expect([...sample!.logprobs]).toEqual([Number.NaN, expect.closeTo(-0.5, 5), Number.NaN])
  })

  it('falls back to text if no ids are returned, and says so', async () => {
    await open((body) =>
      'return_token_ids' in body
        ? new Stream([
            {
              choices: [
                { text: 'a', finish_reason: 'stop', logprobs: { tokens: ['a'], token_logprobs: [-1] } },
              ],
            },
          ])
        : new Stream([{ choices: [{ text: 'ab', finish_reason: 'stop' }] }]),
    )
    expect(engine.describe().missing.logprobs).toMatch(
      /^this vLLM returns no token ids: .* so they cannot be trained on$/,
    )
    const [sample] = await engine.sample({ prompt: ids('x'), maxTokens: 9, stopTokens: [tokenizer.eosId!] })
    expect([...sample!.tokens]).toEqual([...ids('ab'), tokenizer.eosId])
    expect([...sample!.logprobs]).toEqual(unknown(3))
    expect(sample!.stopped).toBe('token')
  })
})
