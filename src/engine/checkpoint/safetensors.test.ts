import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { howMany } from '../../../test/how-many.ts'
import { temporaryFolder } from '../../../test/store/support/temporary-folder.ts'
import type { ElementType } from './element-types.ts'
import { EngineError } from './engine-error.ts'
import { narrowToBfloat16, narrowToHalf, widenBfloat16, widenHalf } from './half-floats.ts'
import { readHeader, readTensors } from './safetensors-read.ts'
import { writeTensors } from './safetensors-write.ts'
import type { StoredTensors } from './stored-tensor.ts'

/** A file with an arbitrary header and data. */
function fileWith(
  header: string | Uint8Array,
  data: Uint8Array = new Uint8Array(0),
  length?: bigint,
): string {
  const text = typeof header === 'string' ? Buffer.from(header) : header
  const prefix = Buffer.alloc(8)
  prefix.writeBigUInt64LE(length ?? BigInt(text.length))
  const path = join(temporaryFolder(), 'x.safetensors')
  writeFileSync(path, Buffer.concat([prefix, text, data]))
  return path
}

const entry = (type: string, shape: unknown, offsets: unknown) =>
  JSON.stringify({ dtype: type, shape, data_offsets: offsets })

test('a file of known bytes is read and written', () => {
  // 1.5 and -2 as F32; the header is padded with spaces.
  const header = '{"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
  const golden = Buffer.concat([
    Buffer.from([88, 0, 0, 0, 0, 0, 0, 0]),
    Buffer.from(header.padEnd(88)),
    Buffer.from([0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0]),
  ])
  const path = join(temporaryFolder(), 'b.safetensors')
  const tensors: StoredTensors = new Map([['b', { shape: [2], values: Float32Array.of(1.5, -2) }]])
  writeTensors(path, tensors)
  expect(readFileSync(path)).toEqual(golden)
  expect(readTensors(path)).toEqual({ tensors, metadata: { format: 'pt' } })
})

test('tensors are sorted by name, whatever the input order', () => {
  const path = join(temporaryFolder(), 'x.safetensors')
  const one = (value: number) => ({ shape: [], values: Float32Array.of(value) })
  writeTensors(
    path,
    new Map([
      ['z', one(1)],
      ['Ü', one(2)],
      ['a', one(3)],
    ]),
  )
  expect([...readHeader(path).tensors].map(([name, { start }]) => [name, start])).toEqual([
    ['a', 0],
    ['z', 4],
    ['Ü', 8],
  ])
})

test('each type is widened: F16, BF16, F64', () => {
  const data = Buffer.alloc(16)
  data.writeDoubleLE(-0.1, 0)
  data.writeUInt16LE(0x3e00, 8)
  data.writeUInt16LE(0xc000, 10)
  data.writeUInt16LE(0x3fc0, 12)
  data.writeUInt16LE(0xc000, 14)
  const header = `{"d":${entry('F64', [1], [0, 8])},"h":${entry('F16', [2, 1], [8, 12])},"b":${entry('BF16', [1, 2], [12, 16])}}`
  const { tensors } = readTensors(fileWith(header, data))
  expect(tensors.get('d')!.values).toEqual(Float32Array.of(-0.1))
  expect(tensors.get('h')).toEqual({ shape: [2, 1], values: Float32Array.of(1.5, -2) })
  expect(tensors.get('b')).toEqual({ shape: [1, 2], values: Float32Array.of(1.5, -2) })
})

const tensorMaps = fc
  .array(
    fc.tuple(
      fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('__proto__', '1', 'a.b', '"\\\n')),
      fc.array(fc.nat(4), { maxLength: 3 }),
    ),
    { maxLength: 6 },
  )
  .map((entries) => new Map(entries.filter(([name]) => name !== '__metadata__')))
  .chain((shapes) =>
    fc.record({
      shapes: fc.constant(shapes),
      seed: fc.array(fc.float({ noNaN: true, min: -1000, max: 1000 }), { minLength: 70, maxLength: 70 }),
    }),
  )
  .map(({ shapes, seed }): StoredTensors => {
    const tensors: StoredTensors = new Map()
    for (const [name, shape] of shapes) {
      const count = shape.reduce((product, size) => product * size, 1)
      tensors.set(name, { shape, values: Float32Array.from(seed.slice(0, count)) })
    }
    return tensors
  })

/** Values after a round trip through a narrower type. */
function rounded(values: Float32Array, type: ElementType): Float32Array {
  if (type === 'F32') return values
  const narrow = new Uint16Array(values.length)
  const wide = new Float32Array(values.length)
  if (type === 'F16') narrowToHalf(values, narrow)
  else narrowToBfloat16(values, narrow)
  if (type === 'F16') widenHalf(narrow, wide)
  else widenBfloat16(narrow, wide)
  return wide
}

test.each(['F32', 'F16', 'BF16'] as const)('any tensors round-trip as %s', (type) => {
  const path = join(temporaryFolder(), 'x.safetensors')
  fc.assert(
    fc.property(tensorMaps, fc.dictionary(fc.string(), fc.string()), (tensors, metadata) => {
      writeTensors(path, tensors, { elementType: type, metadata })
      const read = readTensors(path)
      expect(new Map(read.tensors)).toEqual(
        new Map(
          [...tensors].map(([name, { shape, values }]) => [name, { shape, values: rounded(values, type) }]),
        ),
      )
      expect(read.metadata).toEqual({ format: 'pt', ...metadata })
    }),
  )
})

test('tensors longer than one conversion chunk, at an offset in a buffer', () => {
  const path = join(temporaryFolder(), 'x.safetensors')
  const all = Float32Array.from({ length: 600_001 }, (_, index) => (index % 2048) - 1024)
  const values = all.subarray(1)
  for (const elementType of ['F32', 'F16'] as const) {
    writeTensors(path, new Map([['x', { shape: [600, 1000], values }]]), { elementType })
    expect(
      Buffer.from(readTensors(path).tensors.get('x')!.values.buffer).equals(
        Buffer.from(values.slice().buffer),
      ),
    ).toBe(true)
  }
})

test('a value too large for the type is rejected and the old file is kept', () => {
  const folder = temporaryFolder()
  const path = join(folder, 'x.safetensors')
  const of = (value: number): StoredTensors =>
    new Map([['w', { shape: [1], values: Float32Array.of(value) }]])
  writeTensors(path, of(1), { elementType: 'F16' })
  expect(() => writeTensors(path, of(70_000), { elementType: 'F16' })).toThrow(
    /w has the value 70000.*too large for F16/,
  )
  expect(() => writeTensors(path, of(3.4e38), { elementType: 'BF16' })).toThrow(/too large for BF16/)
  expect(readTensors(path).tensors).toEqual(of(1))
  expect(readdirSync(folder)).toEqual(['x.safetensors'])
})

test('tensors that cannot be written are rejected', () => {
  const path = join(temporaryFolder(), 'x.safetensors')
  const write = (name: string, shape: number[]) =>
    writeTensors(path, new Map([[name, { shape, values: new Float32Array(2) }]]))
  expect(() => write('__metadata__', [2])).toThrow(/has a reserved name/)
  expect(() => write('\ud800', [2])).toThrow(/not valid Unicode/)
  expect(() => write('a', [3])).toThrow(/\[3\] has 2 values/)
})

test('NaN and infinite values are named, all tensors in one error', () => {
  const path = join(temporaryFolder(), 'x.safetensors')
  const tensors: StoredTensors = new Map([
    ['a', { shape: [2], values: Float32Array.of(Number.NaN, 1) }],
    ['b', { shape: [1], values: Float32Array.of(1) }],
    ['c', { shape: [3], values: Float32Array.of(1, Number.NEGATIVE_INFINITY, Number.NaN) }],
  ])
  writeTensors(path, tensors)
  expect(() => readTensors(path)).toThrow(/NaN or infinite values: a \(1 of 2\); c \(2 of 3\)/)
  expect(readTensors(path, { allowNonFinite: true }).tensors).toEqual(tensors)
  expect(readTensors(path, { only: (name) => name === 'b' }).tensors.size).toBe(1)
})

const four = new Uint8Array(4)
const eight = new Uint8Array(8)
const ok = entry('F32', [1], [0, 4])
test.each<[string, string | Uint8Array, Uint8Array, RegExp, bigint?]>([
  ['a length beyond the file', '{}', four, /ends within its header/, 5000n],
  ['a huge length', '{}', four, /header would have/, 2n ** 63n],
  ['a length just above the limit', '{}', four, /header would have/, 100_000_001n],
  ['a header that is a list', '[]', four, /does not start with {/],
  ['leading white space', ' {}', four, /does not start with {/],
  ['invalid JSON', '{"a":', four, /JSON/],
  ['bytes that are not UTF-8', Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d), four, /valid/],
  ['deeply nested JSON', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, four, /levels deep/],
  ['a duplicate name', `{"a":${ok},"a":${ok}}`, four, /duplicate name "a"/],
  ['a duplicate name with an escape', `{"a":${ok},"\\u0061":${ok}}`, four, /duplicate name "a"/],
  ['an unknown type', `{"a":${entry('F33', [1], [0, 4])}}`, four, /unknown type F33/],
  ['a type from the prototype', `{"a":${entry('constructor', [1], [0, 4])}}`, four, /unknown type/],
  ['a negative size', `{"a":${entry('F32', [-1, -1], [0, 4])}}`, four, /tensor a: shape.0/],
  ['a fractional size', `{"a":${entry('F32', [0.5, 2], [0, 4])}}`, four, /tensor a: shape.0/],
  ['a size beyond exact integers', `{"a":${entry('F32', [2 ** 60], [0, 4])}}`, four, /tensor a: shape.0/],
  [
    'a product beyond exact integers',
    `{"a":${entry('F32', [2 ** 50, 2 ** 50], [0, 4])}}`,
    four,
    /does not fill/,
  ],
  ['a size given as a string', `{"a":${entry('F32', ['1'], [0, 4])}}`, four, /tensor a: shape.0/],
  ['offsets in the wrong order', `{"a":${entry('F32', [1], [4, 0])}}`, four, /does not fill/],
  ['too few bytes', `{"a":${entry('F32', [2], [0, 4])}}`, four, /does not fill/],
  ['half a byte', `{"a":${entry('F4', [3], [0, 1])}}`, new Uint8Array(1), /does not fill/],
  ['three offsets', `{"a":${entry('F32', [1], [0, 4, 8])}}`, four, /data_offsets/],
  ['an overlap', `{"a":${ok},"b":${entry('F32', [1], [0, 4])}}`, four, /overlaps/],
  ['a partial overlap', `{"a":${ok},"b":${entry('F32', [1], [2, 6])}}`, eight, /overlaps/],
  ['a hole', `{"a":${entry('F32', [1], [4, 8])}}`, eight, /hole of 4 bytes/],
  [
    'data beyond the file',
    `{"a":${entry('F32', [2], [0, 8])}}`,
    four,
    /should have 8 bytes of data, but has 4/,
  ],
  ['trailing data', `{"a":${ok}}`, eight, /4 bytes at the end/],
  ['metadata of numbers', `{"__metadata__":{"a":1},"a":${ok}}`, four, /__metadata__/],
  ['metadata that is a list', `{"__metadata__":[],"a":${ok}}`, four, /__metadata__/],
  ['a tensor that is null', '{"a":null}', four, /tensor a/],
])('%s is rejected', (_, header, data, message, length) => {
  const read = () => readTensors(fileWith(header, data, length))
  expect(read).toThrow(EngineError)
  expect(read).toThrow(message)
})

test('empty tensors may have any other dimensions', () => {
  const header = `{"a":${entry('F32', [0, 2 ** 50, 2 ** 50], [0, 0])},"b":${ok},"c":${entry('F32', [0], [4, 4])}}`
  expect(readTensors(fileWith(header, four)).tensors.get('a')!.values.length).toBe(0)
})

test('unsupported types are named', () => {
  const header = `{"a":${entry('I64', [1], [0, 8])},"b":${entry('F32', [1], [8, 12])}}`
  const path = fileWith(header, new Uint8Array(12))
  expect(() => readTensors(path)).toThrow(/unsupported types: a \(I64\)/)
  expect(readTensors(path, { only: (name) => name === 'b' }).tensors.size).toBe(1)
})

test('missing files, folders, truncated files and Git LFS pointers', () => {
  const folder = temporaryFolder()
  expect(() => readTensors(join(folder, 'absent'))).toThrow(/cannot read .*absent/)
  mkdirSync(join(folder, 'folder'))
  expect(() => readTensors(join(folder, 'folder'))).toThrow(/not a regular file/)
  writeFileSync(join(folder, 'short'), 'abc')
  expect(() => readTensors(join(folder, 'short'))).toThrow(/only 3 bytes/)
  writeFileSync(join(folder, 'pointer'), 'version https://git-lfs.github.com/spec/v1\noid sha256:00\n')
  try {
    readTensors(join(folder, 'pointer'))
    expect.unreachable()
  } catch (error) {
    expect((error as EngineError).fix).toMatch(/git lfs pull/)
  }
})

test('a truncated or corrupted file is read or rejected, without crashing', () => {
  const path = join(temporaryFolder(), 'x.safetensors')
  writeTensors(
    path,
    new Map([
      ['a', { shape: [2, 3], values: Float32Array.of(1, 2, 3, 4, 5, 6) }],
      ['b', { shape: [4], values: new Float32Array(4) }],
    ]),
  )
  const whole = readFileSync(path)
  const other = join(temporaryFolder(), 'y.safetensors')
  const outcome = (bytes: Uint8Array) => {
    writeFileSync(other, bytes)
    try {
      readTensors(other)
      return 'read'
    } catch (error) {
      expect(error).toBeInstanceOf(EngineError)
      expect((error as EngineError).fix).toMatch(/\w/)
      expect((error as EngineError).message.length).toBeLessThan(2000)
      return 'rejected'
    }
  }
  for (let length = 0; length < whole.length; length++)
    expect(outcome(whole.subarray(0, length))).toBe('rejected')
  const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255))
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
      const bytes = Buffer.from(whole)
      for (const [position, value] of changes) bytes[position] = value
      outcome(bytes)
    }),
    { numRuns: howMany(1000) },
  )
})

test('any JSON as header is read or rejected', () => {
  const size = fc.oneof(fc.nat(8), fc.constantFrom(-1, 0.5, 2 ** 53, 1e300, null, 'x'))
  const tensor = fc.record({
    dtype: fc.constantFrom('F32', 'F16', 'BF16', 'F64', 'I64', 'F4', 'x', 7),
    shape: fc.oneof(fc.array(size, { maxLength: 3 }), fc.jsonValue()),
    data_offsets: fc.oneof(fc.tuple(size, size), fc.jsonValue()),
  })
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.oneof(tensor, fc.jsonValue())), fc.nat(16), (header, bytes) => {
      try {
        readTensors(fileWith(JSON.stringify(header), new Uint8Array(bytes)))
      } catch (error) {
        expect(error).toBeInstanceOf(EngineError)
      }
    }),
    { numRuns: 500 },
  )
})
