import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Sample } from '../../../src/engine/index.ts'
import { Futures } from '../../../src/engine/tinker/futures.ts'
import { ProtocolSampling } from '../../../src/engine/tinker/sampling-protocol.ts'
import { Wire } from '../../../src/engine/tinker/wire.ts'
import { startTinkerServer, type TinkerServer } from './tinker-server.ts'

let server: TinkerServer
let published: number[]
let sampling: ProtocolSampling
beforeEach(async () => {
  published = []
  server = await startTinkerServer(({ body }) => {
    const { num_samples, sampling_params } = body as {
      num_samples: number
      sampling_params: { max_tokens: number; stop?: unknown[] }
    }
    const length = Math.min(3, sampling_params.max_tokens)
    const sequence = {
      stop_reason: sampling_params.stop === undefined ? 'length' : 'stop',
      tokens: [7, 8, 9].slice(0, length),
      logprobs: [-1, -2, -3].slice(0, length),
    }
    return { body: { sequences: Array(num_samples).fill(sequence) } }
  })
  sampling = new ProtocolSampling({
    futures: new Futures(new Wire({ url: server.url })),
    contextLength: 10,
    decode: (ids) => Array.from(ids, (id) => 'abcdefghij'[id]).join(''),
    publish: async (number) => {
      published.push(number)
      return `session ${number}`
    },
    logprobs: async (tokens) => tokens.map((each) => Float32Array.from(each, (_, at) => -at)),
  })
})
afterEach(() => server.close())

const request = { prompt: [1, 2], maxTokens: 3, seed: 5 }

it('publishes the weights to the sampler once after each change', async () => {
  await Promise.all([sampling.sample(request), sampling.sample(request)])
  sampling.weightsChanged()
  await sampling.sample(request)
  expect(published).toEqual([1, 2])
  const sessions = server.requests.map(
    ({ body }) => (body as { sampling_session_id: string }).sampling_session_id,
  )
  expect(sessions).toEqual(['session 1', 'session 1', 'session 2'])
})

it('reports sampling log-probabilities only if the server sampled from the unmodified model', async () => {
  const streamed: number[] = []
  const [plain] = await sampling.sample({ ...request, onToken: (token) => streamed.push(token) })
  expect(streamed).toEqual([7, 8, 9])
  expect([...plain!.logprobs]).toEqual([-1, -2, -3])
  const [warm] = await sampling.sample({ ...request, temperature: 0.5 })
  expect([...warm!.logprobs]).toEqual([Number.NaN, Number.NaN, Number.NaN])
  expect([...warm!.modelLogprobs]).toEqual([-2, -3, -4])
  const [greedy] = await sampling.sample({ ...request, temperature: 0 })
  expect([...greedy!.logprobs]).toEqual([0, 0, 0])
})

it('reports why a sample ended, and never requests more than the context holds', async () => {
  expect((await sampling.sample(request))[0]!.stopped).toBe('length')
  expect((await sampling.sample({ ...request, stopTokens: [9] }))[0]!.stopped).toBe('token')
  expect((await sampling.sample({ ...request, stopTexts: ['x'] }))[0]!.stopped).toBe('text')
  const long = await sampling.sample({ ...request, prompt: Array(8).fill(1), maxTokens: 30 })
  expect([long[0]!.stopped, long[0]!.tokens.length]).toEqual(['context', 2])
  expect(
    server.requests.map(({ body }) => (body as { sampling_params: object }).sampling_params),
  ).toMatchObject([{ max_tokens: 3, seed: 5 }, { stop: [9] }, { stop: ['x'] }, { max_tokens: 2 }])
})

it('cuts at stop tokens where the server stops at texts, because a request can have only one kind', async () => {
  const cut = async (stopTokens: number[], stopTexts: string[]) => {
    const [{ tokens, logprobs, stopped }] = (await sampling.sample({
      ...request,
      stopTokens,
      stopTexts,
    })) as [Sample]
    return [[...tokens], [...logprobs], stopped]
  }
  expect(await cut([8], ['ij'])).toEqual([[7, 8], [-1, -2], 'token'])
  expect(await cut([9], ['hi'])).toEqual([[7, 8], [-1, -2], 'text'])
  expect(await cut([1], ['ij'])).toEqual([[7, 8, 9], [-1, -2, -3], 'text'])
  expect(server.requests.map(({ body }) => body)).toMatchObject(
    [['ij'], ['hi'], ['ij']].map((stop) => ({ sampling_params: { stop } })),
  )
})

it('rejects what the protocol does not support', async () => {
  await expect(sampling.sample({ ...request, allowed: () => undefined })).rejects.toThrow(
    /does not support allowed tokens/,
  )
  expect(server.requests).toEqual([])
})
