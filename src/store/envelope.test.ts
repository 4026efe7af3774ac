import fc from 'fast-check'
import { expect, test } from 'vitest'
import { howMany } from '../../test/how-many.ts'
import { anyRecord } from '../../test/store/support/records.ts'
import { registerSecret } from '../base/errors/index.ts'
import { checksumField } from './checksum.ts'
import { decodeEnvelope, type Envelope, encodeEnvelope } from './envelope.ts'

/** A line as in the log, without its newline. */
function withChecksum(envelope: Envelope): Buffer {
  const open = encodeEnvelope(envelope)
  return Buffer.from(open + checksumField(open))
}

test('an encoded envelope is a single line and decodes to itself', () => {
  fc.assert(
    fc.property(anyRecord, fc.nat(), fc.nat(), ({ kind, record }, seq, t) => {
      const envelope = { seq: seq + 1, t, kind, id: record.id, data: record }
      const line = withChecksum(envelope)
      expect(line.indexOf('\n')).toBe(-1)
      expect(decodeEnvelope(line)).toEqual({ status: 'record', envelope, hasChecksum: true })
      const old = Buffer.from(JSON.stringify(envelope))
      expect(decodeEnvelope(old)).toEqual({ status: 'record', envelope, hasChecksum: false })
    }),
    { numRuns: howMany(10_000) },
  )
})

test('registered secrets do not reach the log', () => {
  registerSecret('sk-envelope-0123456789')
  const data = { id: 'x', events: [{ message: 'refused: sk-envelope-0123456789' }] }
  const line = withChecksum({ seq: 1, t: 0, kind: 'trajectory', id: 'x', data }).toString()
  expect(line).toContain('refused: [redacted]')
  expect(JSON.parse(line)).toMatchObject({ id: 'x', data: { id: 'x' } })
})

test('any proper prefix of a line is garbage', () => {
  const cut = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  fc.assert(
    fc.property(anyRecord, cut, ({ kind, record }, fraction) => {
      const line = withChecksum({ seq: 1, t: 0, kind, id: record.id, data: record })
      const length = Math.floor(line.length * fraction)
      expect(decodeEnvelope(line.subarray(0, length)).status).toBe('garbage')
    }),
    { numRuns: howMany(10_000) },
  )
})

test('a line with any one bit flipped is garbage', () => {
  const bit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  fc.assert(
    fc.property(anyRecord, bit, ({ kind, record }, fraction) => {
      const line = withChecksum({ seq: 1, t: 0, kind, id: record.id, data: record })
      const bit = Math.floor(line.length * 8 * fraction)
      line[bit >> 3]! ^= 1 << (bit & 7)
      expect(decodeEnvelope(line).status).toBe('garbage')
    }),
    { numRuns: howMany(10_000) },
  )
  const short = withChecksum({ seq: 1, t: 0, kind: 'task', id: 'a', data: { id: 'a' } })
  for (let bit = 0; bit < short.length * 8; bit++) {
    const line = Buffer.from(short)
    line[bit >> 3]! ^= 1 << (bit & 7)
    expect(decodeEnvelope(line).status, `bit ${bit}`).toBe('garbage')
  }
})

test('random bytes are garbage', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(decodeEnvelope(bytes).status).toBe('garbage')
    }),
    { numRuns: howMany(10_000) },
  )
})

const line = { seq: 1, t: 0, kind: 'task', id: 'a', data: { id: 'a' } }
test.each([
  ['not a JSON object', '[]', 'garbage'],
  ['too long', undefined, 'garbage'],
  [
    'bytes that are not UTF-8',
    Buffer.from(JSON.stringify({ ...line, data: { id: 'a', x: '\xff' } }), 'latin1'),
    'garbage',
  ],
  ['no position', JSON.stringify({ ...line, seq: 0 }), 'garbage'],
  ['a different id inside', JSON.stringify({ ...line, data: { id: 'b' } }), 'garbage'],
  ['no data', JSON.stringify({ ...line, data: null }), 'garbage'],
  ['a kind from the future', JSON.stringify({ ...line, kind: 'dream' }), 'unusable'],
  ['a kind that every object has', JSON.stringify({ ...line, kind: 'toString' }), 'unusable'],
  [
    'an id that is not Unicode',
    '{"seq":1,"t":0,"kind":"task","id":"\\ud800","data":{"id":"\\ud800"}}',
    'unusable',
  ],
])('%s', (_name, text, status) => {
  expect(decodeEnvelope(text === undefined ? undefined : Buffer.from(text)).status).toBe(status)
})
