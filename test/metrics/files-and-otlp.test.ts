import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openOtlp } from '../../src/pipeline/metrics/otlp.ts'
import { pointsOf } from '../../src/pipeline/metrics/points.ts'
import type { SinkRun } from '../../src/pipeline/metrics/sink.ts'
import { crc32c, openTensorboard } from '../../src/pipeline/metrics/tensorboard.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'

const rows = [
  { t: 1_700_000_000_000, stage: 'rl', step: 1, reward: 0.25, note: 'a word', loss: 'NaN' },
  { t: 1_700_000_001_000, stage: 'rl', step: 300, reward: -1.5, tokens: 12_000 },
  { t: 1_700_000_002_000, stage: 'teach', spent: 1 },
]

const run: SinkRun = { id: 'run-1', settings: {}, whole: false }
const options = { python: 'python3', environment: {} }
const batch = { points: [...pointsOf(rows)], chains: [] }

/** Written from the format description, independently of the writer. */
function readEvents(bytes: Uint8Array): { step: number; tag: string; value: number; time: number }[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const unmask = (value: number): number => {
    const turned = (value - 0xa282ead8) >>> 0
    return ((turned >>> 17) | (turned << 15)) >>> 0
  }
  const events = []
  let at = 0
  while (at < bytes.length) {
    const length = Number(view.getBigUint64(at, true))
    expect(unmask(view.getUint32(at + 8, true))).toBe(crc32c(bytes.subarray(at, at + 8)))
    const data = bytes.subarray(at + 12, at + 12 + length)
    expect(unmask(view.getUint32(at + 12 + length, true))).toBe(crc32c(data))
    const body = new DataView(data.buffer, data.byteOffset, data.byteLength)
    at += 16 + length
    if (data[9] === 0x1a) continue
    // 09 time, 10 step (a varint), 2a summary { 0a value { 0a tag, 15 number } }.
    let place = 10
    let step = 0
    for (let shift = 0; ; shift += 7) {
      const byte = data[place++]!
      step |= (byte & 127) << shift
      if (byte < 128) break
    }
    const tagLength = data[place + 5]!
    const tag = new TextDecoder().decode(data.subarray(place + 6, place + 6 + tagLength))
    const value = body.getFloat32(place + 7 + tagLength, true)
    events.push({ step, tag, value, time: body.getFloat64(1, true) })
  }
  return events
}

it('checksums are CRC-32C', () => {
  expect(crc32c(new TextEncoder().encode('123456789'))).toBe(0xe3069283)
  expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa)
})

it('an event file contains every number that has a step, and grows during the run', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'run-1', 'events.out.tfevents.run-1')
  const first = await openTensorboard(folder, run, options)
  await first.send({ ...batch, points: batch.points.slice(0, 1) })
  await first.close('interrupted')
  const second = await openTensorboard(folder, run, options)
  await second.send({ ...batch, points: batch.points.slice(1) })
  const events = [
    { step: 1, tag: 'rl/reward', value: 0.25, time: 1_700_000_000 },
    { step: 300, tag: 'rl/reward', value: -1.5, time: 1_700_000_001 },
    { step: 300, tag: 'rl/tokens', value: 12_000, time: 1_700_000_001 },
  ]
  expect(readEvents(readFileSync(file))).toEqual(events)
  // A finished run replaces what was there.
  const whole = await openTensorboard(folder, { ...run, whole: true }, options)
  await whole.send(batch)
  expect(readEvents(readFileSync(file))).toEqual(events)
})

it('a collector gets one gauge per metric, and its rejection is reported', async () => {
  const got: { url: string | undefined; body: unknown }[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      got.push({ url: request.url, body: JSON.parse(text) })
      response.writeHead(got.length === 1 ? 200 : 400).end('too many')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    await (await openOtlp(url, run, options)).send(batch)
    expect(got[0]!.url).toBe('/v1/metrics')
    const text = JSON.stringify(got[0]!.body)
    expect(text).toContain('"name":"coa.rl.reward"')
    expect(text).toContain('"timeUnixNano":"1700000001000000000","asDouble":-1.5')
    expect(text).not.toContain('NaN')
    await expect((await openOtlp(`${url}/`, run, options)).send(batch)).rejects.toThrow('status 400')
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
  await expect((await openOtlp(url, run, options)).send(batch)).rejects.toThrow('no server responds')
})
