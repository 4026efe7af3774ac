import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, it } from 'vitest'
import { unpack } from './unpack.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-unpack-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Entry {
  path: string
  content?: string
  type?: string
  prefix?: string
}

/** A tar archive in the format that npm writes. */
function tar(entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap(({ path, content = '', type = '0', prefix = '' }) => {
    const header = Buffer.alloc(512)
    const bytes = Buffer.from(content)
    const put = (text: string, at: number) => header.write(text, at, 'utf8')
    put(path, 0)
    put(`${bytes.length.toString(8).padStart(11, '0')} `, 124)
    put(type, 156)
    put('ustar\u000000', 257)
    put(prefix, 345)
    return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]
  })
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}

let count = 0
function archive(bytes: Buffer): { file: string; integrity: string; into: string } {
  const file = join(folder, `${count}.tgz`)
  writeFileSync(file, bytes)
  return {
    file,
    integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
    into: join(folder, `out-${count++}`),
  }
}

const large = 'x'.repeat(300_000)

it('writes the wanted files, without the first folder of their paths', async () => {
  const { file, integrity, into } = archive(
    gzipSync(
      tar([
        { path: 'package/package.json', content: '{}' },
        { path: 'package/dist', type: '5' },
        { path: 'package/dist/empty.js' },
        { path: 'package/dist/large.js', content: large },
        { path: 'package/dist/skipped.map', content: 'no' },
        { path: 'package/dist/link.js', type: '2', content: '' },
        { path: 'exact.js', prefix: 'package/deep/folder', content: 'é' },
      ]),
    ),
  )
  await unpack(file, { into, integrity, keeps: (path) => !path.endsWith('.map') })
  expect(readdirSync(into, { recursive: true }).toSorted()).toEqual([
    'deep',
    'deep/folder',
    'deep/folder/exact.js',
    'dist',
    'dist/empty.js',
    'dist/large.js',
    'package.json',
  ])
  expect(readFileSync(join(into, 'dist/large.js'), 'utf8')).toBe(large)
  expect(readFileSync(join(into, 'deep/folder/exact.js'), 'utf8')).toBe('é')
})

const whole = gzipSync(tar([{ path: 'package/a.js', content: large }]))
it.each([
  ['another checksum', whole, 'sha512-AAAA'],
  ['a cut-off archive', whole.subarray(0, whole.length / 2), undefined],
  ['no compression', tar([{ path: 'package/a.js', content: 'a' }]), undefined],
  ['no tar archive', gzipSync(Buffer.from('<html>not found</html>'.repeat(100))), undefined],
  ['a path out of the folder', gzipSync(tar([{ path: 'package/../../a.js', content: 'a' }])), undefined],
])('rejects %s', async (_what, bytes, wrong) => {
  const { file, integrity, into } = archive(bytes)
  await expect(unpack(file, { into, integrity: wrong ?? integrity, keeps: () => true })).rejects.toThrow(
    'is not the expected package',
  )
  expect(existsSync(join(folder, 'a.js'))).toBe(false)
})
