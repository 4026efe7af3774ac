import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import {
  COLUMNS,
  type ColumnParts,
  decodeColumns,
  encodeColumns,
  messageSize,
} from '../../../src/engine/tinker/columns.ts'
import { Futures } from '../../../src/engine/tinker/futures.ts'
import { ModelSession } from '../../../src/engine/tinker/model-session.ts'
import { readStream } from '../../../src/engine/tinker/sample-stream.ts'
import { TrainerSampling } from '../../../src/engine/tinker/sampling-trainer.ts'
import { Wire } from '../../../src/engine/tinker/wire.ts'
import { startTinkerServer, type TinkerReply, type TinkerServer } from './tinker-server.ts'

const column: fc.Arbitrary<ColumnParts> = fc.oneof(
  fc.record({ type: fc.constant('int32' as const), parts: fc.array(fc.int32Array()) }),
  fc.record({ type: fc.constant('float32' as const), parts: fc.array(fc.float32Array()) }),
  fc.record({ type: fc.constant('uint8' as const), parts: fc.array(fc.uint8Array()) }),
)
const name = fc.string({ unit: 'grapheme' }).filter((each) => each !== '__proto__' && !/^\d+$/.test(each))
const message = fc.tuple(
  fc.dictionary(
    name.filter((each) => each !== 'columns'),
    fc.string({ unit: 'grapheme' }),
    { noNullPrototype: true },
  ),
  fc.dictionary(name, column, { noNullPrototype: true, maxKeys: 5 }),
)

describe('column messages', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(message, fc.nat(3), ([header, columns], shift) => {
        const bytes = encodeColumns(header, columns)
        expect(messageSize(bytes)).toBe(bytes.length)
        // At any offset in memory.
        const moved = new Uint8Array(bytes.length + shift).subarray(shift)
        moved.set(bytes)
        const read = decodeColumns(moved)
        expect(read.header).toEqual(header)
        expect(Object.keys(read.columns)).toEqual(Object.keys(columns))
        for (const [key, { parts }] of Object.entries(columns))
          expect([...read.columns[key]!]).toEqual(parts.flatMap((part) => [...Array.from(part)]))
      }),
      { numRuns: 2000 },
    )
  })

  it('accept plain arrays', () => {
    const { columns } = decodeColumns(encodeColumns({}, { a: { type: 'int32', parts: [[1, 2], [], [3]] } }))
    expect(columns).toEqual({ a: Int32Array.of(1, 2, 3) })
  })

  it('are rejected if they are truncated or corrupted', () => {
    const whole = encodeColumns({ x: 1 }, { a: { type: 'int32', parts: [[1, 2, 3]] } })
    for (let length = 0; length < whole.length; length++)
      expect(() => decodeColumns(whole.slice(0, length))).toThrow(/truncated or corrupted/)
    fc.assert(
      fc.property(fc.nat(whole.length - 13), fc.nat(255), (at, value) => {
        const changed = whole.slice()
        changed[at] = value
        try {
          decodeColumns(changed)
        } catch (error) {
          expect((error as Error).message).toMatch(/truncated or corrupted/)
        }
      }),
    )
  })
})

describe('with our trainer', () => {
  let server: TinkerServer | undefined
  afterEach(async () => {
    await server?.close()
    server = undefined
  })
  const serve = async (reply: Parameters<typeof startTinkerServer>[0]): Promise<Wire> => {
    server = await startTinkerServer(reply)
    return new Wire({ url: server.url, patienceMs: 3_000 })
  }
  const columns = (data: Uint8Array): TinkerReply => ({ bytes: { type: COLUMNS, data } })
  const sampled = encodeColumns(
    { sequences: [{ stopped: 'token', reused: 3, versions: [[0, 2]] }] },
    {
      lengths: { type: 'int32', parts: [[2]] },
      tokens: { type: 'int32', parts: [[7, 8]] },
      logprobs: { type: 'float32', parts: [[-1, -2]] },
      model_logprobs: { type: 'float32', parts: [[-3, -4]] },
    },
  )
  const samplingOn = (wire: Wire): TrainerSampling =>
    new TrainerSampling({ wire, modelId: () => 'm', contextLength: 100, decode: () => '' })

  it('a pass is one message of whole columns, and so is its result', async () => {
    const wire = await serve(({ path }) =>
      path === '/retrieve_future'
        ? columns(
            encodeColumns(
              { metrics: { 'loss:sum': 2.5 } },
              { logprobs: { type: 'float32', parts: [[0, -1, -2], Float32Array.of(0, -3)] } },
            ),
          )
        : { body: { request_id: 'r' } },
    )
    const session = new ModelSession(new Futures(wire), 'm')
    session.encoding = 'columns'
    const data = [
      { tokens: [1, 2, 3], inputs: { weights: [0, 1, 0.5], logprobs: undefined } },
      { tokens: Int32Array.of(4, 5), inputs: { weights: Float32Array.of(0, 1), logprobs: undefined } },
    ]
    const answer = await session.pass('/forward', { data, loss_fn: 'cross_entropy' })
    expect(answer).toEqual({
      logprobs: [Float32Array.of(0, -1, -2), Float32Array.of(0, -3)],
      metrics: { 'loss:sum': 2.5 },
    })
    const [sent] = server!.requests
    expect(sent).toMatchObject({ path: '/forward', headers: { 'content-type': COLUMNS } })
    expect(decodeColumns(sent!.body as Uint8Array)).toEqual({
      header: { model_id: 'm', seq_id: 1, loss_fn: 'cross_entropy' },
      columns: {
        lengths: Int32Array.of(3, 2),
        tokens: Int32Array.of(1, 2, 3, 4, 5),
        weights: Float32Array.of(0, 1, 0.5, 0, 1),
      },
    })
  })

  it('samples are retried, and errors reported, like any other request', async () => {
    const replies: TinkerReply[] = [
      { status: 503 },
      { hangUp: true },
      columns(sampled),
      { status: 400, body: { detail: 'the prompt is empty' } },
    ]
    const sampling = samplingOn(await serve((_request, index) => replies[index]!))
    expect(await sampling.sample({ prompt: [1, 2], maxTokens: 5, seed: 4 })).toEqual([
      {
        tokens: Int32Array.of(7, 8),
        logprobs: Float32Array.of(-1, -2),
        modelLogprobs: Float32Array.of(-3, -4),
        stopped: 'token',
        reused: 3,
        versions: Int32Array.of(0, 0),
      },
    ])
    expect(decodeColumns(server!.requests[0]!.body as Uint8Array)).toMatchObject({
      header: { model_id: 'm', num_samples: 1, sampling_params: { max_tokens: 5, seed: 4 } },
      columns: { prompt: Int32Array.of(1, 2) },
    })
    await expect(sampling.sample({ prompt: [1], maxTokens: 5 })).rejects.toThrow(/the prompt is empty/)
  })

  it('a hundred samples run at once, over connections that are used again', async () => {
    let together = 0
    let release = (): void => undefined
    const all = new Promise<void>((resolve) => (release = resolve))
    const wire = await serve(() => {
      if (++together === 100) release()
      return { ...columns(sampled), delayMs: together <= 100 ? 300 : 0 }
    })
    const sampling = samplingOn(wire)
    const sampleAll = (): Promise<unknown> =>
      Promise.all(Array.from({ length: 100 }, () => sampling.sample({ prompt: [1], maxTokens: 5 })))
    const first = sampleAll()
    await all
    await first
    await sampleAll()
    expect(server!.connections()).toBeLessThanOrEqual(100)
    wire.close()
  })

  it('an aborted sample closes its connection', async () => {
    const sampling = samplingOn(await serve(() => ({ ...columns(sampled), delayMs: 60_000 })))
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 100)
    const began = performance.now()
    await expect(sampling.sample({ prompt: [1], maxTokens: 5, signal: controller.signal })).rejects.toThrow(
      /abort/i,
    )
    expect(performance.now() - began).toBeLessThan(5_000)
  })

  it('a stream is read message by message, however it is cut', async () => {
    const tokens = [3, 1].map((token, sequence) =>
      encodeColumns({ sequence }, { tokens: { type: 'int32', parts: [[token]] } }),
    )
    const data = new Uint8Array(Buffer.concat([...tokens, sampled]))
    const seen: number[][] = []
    const onToken = (...each: number[]): void => void seen.push(each)
    const wire = await serve(() => columns(data))
    await readStream(wire, data, { onToken })
    expect(seen).toEqual([
      [3, 0],
      [1, 1],
    ])
    await server!.close()
    const cut = await serve(() => columns(data.slice(0, data.length - 4)))
    await expect(readStream(cut, data, { onToken })).rejects.toThrow(/disconnected/)
    await server!.close()
    const failed = encodeColumns({ error: { status: 400, detail: 'not a number' } }, {})
    const broken = await serve(() => columns(failed))
    await expect(readStream(broken, data, { onToken })).rejects.toThrow(/not a number/)
  })
})
