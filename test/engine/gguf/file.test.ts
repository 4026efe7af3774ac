import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { readGguf, readGgufTensor } from '../../../src/engine/gguf/read-gguf.ts'
import type { GgufValue, Metadata } from '../../../src/engine/gguf/values.ts'
import { writeGguf } from '../../../src/engine/gguf/write-gguf.ts'
import { EngineError } from '../../../src/engine/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-gguf-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const path = join(folder, 'file.gguf')

const integer = (
  type: 'uint8' | 'int8' | 'uint16' | 'int16' | 'uint32' | 'int32',
  min: number,
  max: number,
) => [type, fc.integer({ min, max })] as const
const plain = [
  integer('uint8', 0, 255),
  integer('int8', -128, 127),
  integer('uint16', 0, 65_535),
  integer('int16', -32_768, 32_767),
  integer('uint32', 0, 2 ** 32 - 1),
  integer('int32', -(2 ** 31), 2 ** 31 - 1),
  ['float32', fc.float({ noNaN: true })] as const,
  ['float64', fc.double({ noNaN: true })] as const,
  ['uint64', fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })] as const,
  ['int64', fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })] as const,
  ['bool', fc.boolean()] as const,
  ['string', fc.string({ unit: 'binary' })] as const,
] as const
const value: fc.Arbitrary<GgufValue> = fc.oneof(
  ...plain.map(([type, of]) =>
    (of as fc.Arbitrary<unknown>).map((each) => ({ type, value: each }) as GgufValue),
  ),
  ...plain.map(([of, each]) =>
    fc
      .array(each as fc.Arbitrary<unknown>)
      .map((values) => ({ type: 'array', of, value: values }) as GgufValue),
  ),
)
const metadata: fc.Arbitrary<Metadata> = fc
  .dictionary(fc.string({ unit: 'binary' }), value, { maxKeys: 8 })
  .map((entries) => new Map(Object.entries(entries).filter(([key]) => key !== 'general.alignment')))
const tensors = fc.uniqueArray(
  fc.record({
    name: fc.string({ unit: 'binary' }),
    shape: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }),
    seed: fc.float({ noNaN: true, noDefaultInfinity: true }),
  }),
  { selector: ({ name }) => name, maxLength: 5 },
)

it('round-trips values of every type', () => {
  fc.assert(
    fc.property(metadata, tensors, (values, entries) => {
      const outgoing = entries.map(({ name, shape, seed }) => {
        const count = shape.reduce((product, size) => product * size, 1)
        const numbers = Float32Array.from({ length: count }, (_, index) => seed + index)
        return { name, shape, type: 'F32' as const, values: () => numbers }
      })
      const bytes = writeGguf(path, values, outgoing)
      expect(readFileSync(path).length).toBe(bytes)
      const read = readGguf(path)
      expect([...read.metadata]).toEqual([...values])
      expect([...read.tensors.keys()]).toEqual(entries.map(({ name }) => name))
      for (const each of outgoing) {
        const tensor = read.tensors.get(each.name)!
        expect(tensor.shape).toEqual(each.shape)
        expect(readGgufTensor(path, tensor)).toEqual(each.values())
      }
    }),
    { numRuns: 500 },
  )
})

it('reads a file written by the Python package gguf', () => {
  const { file } = JSON.parse(readFileSync(new URL('./gguf.fixture.json', import.meta.url), 'utf8')) as {
    file: string
  }
  writeFileSync(path, Buffer.from(file, 'base64'))
  const { metadata: found, tensors: list } = readGguf(path)
  expect(Object.fromEntries(found)).toMatchObject({
    'general.architecture': { type: 'string', value: 'llama' },
    'llama.block_count': { type: 'uint32', value: 2 },
    'llama.attention.layer_norm_rms_epsilon': { type: 'float32', value: Math.fround(1e-5) },
    'tokenizer.ggml.tokens': { type: 'array', of: 'string', value: ['a', 'Ġb', '日本'] },
    'test.yes': { type: 'bool', value: true },
    'test.long': { type: 'int64', value: -(2n ** 60n) },
    'test.double': { type: 'float64', value: 0.1 },
    'test.numbers': { type: 'array', of: 'int32', value: [1, -2, 3] },
  })
  expect(list.get('one')!.shape).toEqual([2, 3])
  expect(readGgufTensor(path, list.get('one')!)).toEqual(Float32Array.of(0, 1, 2, 3, 4, 5))
  expect(readGgufTensor(path, list.get('two')!)).toEqual(Float32Array.of(0.5, -1.25, 3))
})

describe('a malicious file', () => {
  const valid = (): Buffer => {
    const values = new Float32Array(64)
    writeGguf(path, new Map([['general.architecture', { type: 'string', value: 'llama' }]]), [
      { name: 'one', shape: [8, 8], type: 'F32', values: () => values },
      { name: 'two', shape: [64], type: 'F32', values: () => values },
    ])
    return readFileSync(path)
  }
  const rejection = (bytes: Uint8Array): EngineError => {
    writeFileSync(path, bytes)
    try {
      readGguf(path)
    } catch (error) {
      expect(error).toBeInstanceOf(EngineError)
      return error as EngineError
    }
    throw new Error('the file was accepted')
  }
  /** Offset of the first tensor's fields, after its name. */
  const afterName = (bytes: Buffer): number => bytes.indexOf('one') + 3

  it('is rejected wherever it is truncated', () => {
    const bytes = valid()
    for (let length = 0; length < bytes.length; length += length < 200 ? 1 : 61) {
      expect(rejection(bytes.subarray(0, length)).message).toContain('is not a valid GGUF file')
    }
  })

  it.each<[string, (bytes: Buffer) => void, string]>([
    ['other bytes', (bytes) => bytes.write('GGML'), 'does not start with GGUF'],
    ['another version', (bytes) => bytes.writeUInt32LE(1, 4), 'its version is 1'],
    ['big-endian byte order', (bytes) => bytes.writeUInt32BE(3, 4), 'big-endian'],
    ['too many tensors', (bytes) => bytes.writeBigUInt64LE(2n ** 62n, 8), 'the number of tensors is'],
    ['too many values', (bytes) => bytes.writeBigUInt64LE(2n ** 40n, 16), 'the number of values is'],
    ['an endless key', (bytes) => bytes.writeBigUInt64LE(2n ** 63n, 24), 'a string length is'],
    ['no dimensions', (bytes) => bytes.writeUInt32LE(0, afterName(bytes)), 'has 0 dimensions'],
    ['many dimensions', (bytes) => bytes.writeUInt32LE(5, afterName(bytes)), 'has 5 dimensions'],
    ['a huge size', (bytes) => bytes.writeBigUInt64LE(2n ** 60n, afterName(bytes) + 4), 'has the shape'],
    ['a size of zero', (bytes) => bytes.writeBigUInt64LE(0n, afterName(bytes) + 4), 'has the shape'],
    ['an unaligned offset', (bytes) => bytes.writeBigUInt64LE(3n, afterName(bytes) + 24), 'is not aligned'],
    [
      'an offset past the end',
      (bytes) => bytes.writeBigUInt64LE(2n ** 50n, afterName(bytes) + 24),
      'but the file has',
    ],
    ['overlapping tensors', (bytes) => bytes.writeBigUInt64LE(32n, afterName(bytes) + 24), 'overlap'],
    ['a duplicate name', (bytes) => bytes.write('one', bytes.indexOf('two')), 'duplicate tensor "one"'],
  ])('with %s is rejected', (_, damage, message) => {
    const bytes = valid()
    damage(bytes)
    expect(rejection(bytes).message).toContain(message)
  })

  it('never throws anything but an EngineError', () => {
    const bytes = valid()
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 180 }), fc.integer({ min: 0, max: 255 })), {
          maxLength: 6,
        }),
        (changes) => {
          const damaged = Uint8Array.from(bytes)
          for (const [position, byte] of changes) damaged[position] = byte
          writeFileSync(path, damaged)
          try {
            readGguf(path)
          } catch (error) {
            expect(error).toBeInstanceOf(EngineError)
          }
        },
      ),
      { numRuns: 1000 },
    )
  })
})
