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

describe('SGLang', () => {
  const open = async (generate: (body: { sampling_params: { temperature: number } }) => Stream) => {
    server = await scripted({
      '/v1/models': { data: [{ id: 'llama', owned_by: 'sglang', max_model_len: 100 }] },
      '/get_model_info': { model_path: 'llama', is_generation: true },
      '/generate': generate as (body: never) => Stream,
    })
    engine = await openOpenAI({ url: server.url, tokenizer, firstWait: 1 })
  }
  /** Cumulative, as by default, or with --incremental-streaming-output. */
  const answer = (text: string, { incremental = false, logprob = -0.5 } = {}): Stream =>
    new Stream(
      ids(text).map((_, index) => {
        const all = ids(text)
          .slice(0, index + 1)
          .map((id) => [logprob, id, null])
        return {
          text: text.slice(0, index + 1),
          output_ids: ids(text).slice(0, index + 1),
          meta_info: {
            prompt_tokens: 1,
            completion_tokens: index + 1,
            cached_tokens: 1,
            output_token_logprobs: incremental ? all.slice(-1) : all,
            finish_reason: index === text.length - 1 ? { type: 'stop', matched: 256 } : null,
          },
        }
      }),
    )

  it.each([false, true])('reads its stream, incremental: %s', async (incremental) => {
    await open(() => answer('hello', { incremental }))
    const [sample] = await engine.sample({
      prompt: ids('x'),
      maxTokens: 9,
      seed: 3,
      stopTokens: [256],
      topK: 5,
    })
    expect(tokenizer.decode(sample!.tokens)).toBe('hello')
    expect(sample).toMatchObject({ stopped: 'token', reused: 1 })
    expect([...sample!.modelLogprobs]).toEqual(closely(Array(5).fill(-0.5)))
    expect([...sample!.logprobs]).toEqual(unknown(5))
    expect(server.requestsTo('/generate').at(-1)!.body).toMatchObject({
      input_ids: ids('x'),
      sampling_params: {
        max_new_tokens: 9,
        temperature: 1,
        top_k: 5,
        sampling_seed: 3,
        stop_token_ids: [256],
      },
      return_logprob: true,
    })
  })

  it('detects that its log-probabilities are those after the temperature', async () => {
    await open(({ sampling_params: { temperature } }) => answer('a', { logprob: -1 / temperature }))
    const [warm] = await engine.sample({ prompt: ids('x'), maxTokens: 1, temperature: 0.5 })
    expect([...warm!.logprobs]).toEqual(closely([-2]))
    expect([...warm!.modelLogprobs]).toEqual(unknown(1))
    const [plain] = await engine.sample({ prompt: ids('x'), maxTokens: 1 })
    expect([...plain!.modelLogprobs]).toEqual(closely([-1]))
    expect(engine.describe().missing.allowedTokens).toBe('SGLang does not support allowed tokens')
    await expect(engine.sample({ prompt: ids('x'), maxTokens: 1, allowed: () => undefined })).rejects.toThrow(
      'does not support allowed tokens',
    )
  })
})

describe('llama.cpp', () => {
  const open = async (
    parts: (body: { logit_bias?: [number, false][] }) => (object | string)[],
    known = true,
  ) => {
    server = await scripted({
      '/v1/models': {
        data: [
          { id: 'tiny.gguf', owned_by: 'llamacpp', meta: { n_vocab: 259, n_ctx: 128, n_params: 79_168 } },
        ],
      },
      '/props': { default_generation_settings: { n_ctx: 128 }, total_slots: 1 },
      '/api/version': { version: '0.0.0' },
      '/completion': ((body: { logit_bias?: [number, false][] }) => new Stream(parts(body))) as (
        body: never,
      ) => Stream,
    })
    engine = await openOpenAI({ url: server.url, ...(known ? { tokenizer } : {}), firstWait: 1 })
  }
  const event = (id: number, total: number, content = String.fromCharCode(id)) => ({
    index: 0,
    content,
    tokens: [id],
    stop: false,
    tokens_predicted: total,
    completion_probabilities: [{ id, token: content, bytes: [id], logprob: -0.25, top_logprobs: [] }],
  })
  const last = (why: string, more = {}) => ({
    content: '',
    tokens: [],
    stop: true,
    stop_type: why,
    truncated: false,
    timings: { cache_n: 3 },
    ...more,
  })

  it('uses only the requested samplers', async () => {
    await open(() => [event(97, 1), event(98, 2), event(256, 3, ''), last('eos')])
    expect(engine.describe()).toMatchObject({ contextLength: 128, parameters: 79_168, vocabularySize: 259 })
    const [sample] = await engine.sample({ prompt: ids('x'), maxTokens: 9, seed: 2 ** 32 + 1, topP: 0.5 })
    expect([...sample!.tokens]).toEqual([97, 98, 256])
    expect(sample).toMatchObject({ stopped: 'token', reused: 3 })
    expect([...sample!.modelLogprobs]).toEqual(closely([-0.25, -0.25, -0.25]))
    expect(server.requestsTo('/completion').at(-1)!.body).toMatchObject({
      prompt: ids('x'),
      n_predict: 9,
      seed: 1,
      samplers: ['temperature', 'top_k', 'top_p'],
      top_p: 0.5,
      top_k: 0,
      repeat_penalty: 1,
      n_probs: 1,
      return_tokens: true,
    })
  })

  it('re-encodes unreported tokens from the text, without log-probabilities', async () => {
    // ä is two tokens; llama.cpp reports the second, with the text of both.
    await open(() => [event(97, 1), event(0xa4, 3, 'ä'), event(98, 4), last('limit')])
    const [sample] = await engine.sample({ prompt: ids('x'), maxTokens: 4 })
    expect([...sample!.tokens]).toEqual(ids('aäb'))
    expect([...sample!.logprobs]).toEqual([
      expect.closeTo(-0.25, 5),
      Number.NaN,
      Number.NaN,
      expect.closeTo(-0.25, 5),
    ])
    expect(sample!.stopped).toBe('length')
  })

  it('needs a tokenizer to re-encode tokens', async () => {
    await open(() => [event(0xa4, 2, 'ä'), last('limit')], false)
    await expect(engine.sample({ prompt: ids('x'), maxTokens: 4 })).rejects.toThrow(
      'did not report some sampled tokens',
    )
  })

  it('ends where the output stopped within a character', async () => {
    const message = 'The model produced output that does not match the expected Content-only format'
    await open(() => [event(97, 1), { error: { code: 500, message, type: 'server_error' } }])
    const [sample] = await engine.sample({ prompt: ids('x'), maxTokens: 9 })
    expect([...sample!.tokens]).toEqual([97])
    expect(sample!.stopped).toBe('length')
  })

  it('reports the end of the context, and masks tokens with a logit bias', async () => {
    await open((body) => [
      event(body.logit_bias === undefined ? 97 : 98, 1),
      last('limit', { truncated: true }),
    ])
    const [sample] = await engine.sample({ prompt: ids('x'), maxTokens: 9 })
    expect(sample!.stopped).toBe('context')
    const allowed = Uint8Array.from({ length: 259 }, (_, id) => (id === 98 ? 1 : 0))
    const [masked] = await engine.sample({ prompt: ids('x'), maxTokens: 1, allowed: () => allowed })
    expect([...masked!.tokens]).toEqual([98])
    const { logit_bias: bias } = server.requestsTo('/completion').at(-1)!.body as {
      logit_bias: [number, boolean][]
    }
    expect(bias).toHaveLength(258)
    expect(bias[0]).toEqual([0, false])
  })
})

describe('text servers', () => {
  it('sends raw prompts to Ollama', async () => {
    server = await scripted({
      '/v1/models': { data: [{ id: 'smollm2:latest', owned_by: 'library' }] },
      '/api/version': { version: '0.12.0' },
      '/api/show': { model_info: { 'llama.context_length': 2048 } },
      '/api/generate': new Stream(
        [
          { model: 'smollm2', response: 'Par', done: false },
          { model: 'smollm2', response: 'is. The', done: false },
          { model: 'smollm2', response: '', done: true, done_reason: 'length' },
        ],
        true,
      ),
    })
    engine = await openOpenAI({ url: server.url, model: 'smollm2', tokenizer })
    const { missing, contextLength } = engine.describe()
    expect(contextLength).toBe(2048)
    expect(missing.logprobs).toContain('Ollama works with text')
    const prompt = [257, ...ids('hi')]
    const [sample] = await engine.sample({ prompt, maxTokens: 9, seed: 4, stopTexts: ['is.'] })
    expect(tokenizer.decode(sample!.tokens)).toBe('Paris.')
    expect(sample!.stopped).toBe('text')
    expect(server.requestsTo('/api/generate')[0]!.body).toMatchObject({
      model: 'smollm2:latest',
      prompt: '<|im_start|>hi',
      raw: true,
      options: { num_predict: 9, num_ctx: 2048, seed: 4, temperature: 1, top_k: 0, repeat_penalty: 1 },
    })
    const [long] = await engine.sample({ prompt, maxTokens: 9 })
    expect(long!.stopped).toBe('length')
  })

  it('uses the plain OpenAI API for any other server, and needs a tokenizer for it', async () => {
    server = await scripted({
      '/v1/models': { data: [{ id: 'a' }, { id: 'b' }] },
      '/v1/completions': new Stream([
        { choices: [{ text: 'one ' }] },
        { choices: [{ text: 'two', finish_reason: 'stop' }] },
      ]),
    })
    const url = server.url
    await expect(openOpenAI({ url, tokenizer })).rejects.toThrow('has 2 models; one must be chosen')
    await expect(openOpenAI({ url, tokenizer, model: 'c' })).rejects.toThrow('does not have the model c')
    await expect(openOpenAI({ url, model: 'b' })).rejects.toThrow('a tokenizer is required')
    engine = await openOpenAI({ url, model: 'b', tokenizer, contextLength: 99 })
    expect(engine.describe()).toMatchObject({ contextLength: 99, device: `b on a server at ${url}` })
    const [sample] = await engine.sample({ prompt: ids('x'), maxTokens: 9 })
    expect(tokenizer.decode(sample!.tokens)).toBe('one two')
    await expect(engine.sample({ prompt: ids('x'), maxTokens: 1, allowed: () => undefined })).rejects.toThrow(
      'does not support allowed tokens',
    )
  })
})
