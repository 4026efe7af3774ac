import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { unpack } from './unpack.ts'

let folder: string
let packed: string
const weights = Uint8Array.from({ length: 100_000 }, (_, at) => (at * 7 + (at >> 8)) & 255)
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-unpack-'))
  packed = join(folder, 'packed')
  mkdirSync(packed)
  writeFileSync(join(packed, 'adapter_config.json'), '{"r": 4}')
  writeFileSync(join(packed, 'adapter_model.safetensors'), weights)
  writeFileSync(join(packed, 'empty'), '')
})
afterAll(() => rmSync(folder, { recursive: true }))

/** In chunks of a given size, as they could arrive over a network. */
async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

function archive(...options: string[]): Buffer {
  const path = join(folder, 'archive')
  execFileSync('tar', [...options, '-cf', path, '-C', packed, '.'])
  return readFileSync(path)
}

it.each([
  ['plain', ['--format=ustar']],
  ['with extended headers', ['--format=pax', '--mtime=@1.5']],
  ['compressed', ['--format=pax', '-z']],
])('a tar archive, %s', async (name, options) => {
  for (const size of [509, 1 << 16]) {
    const target = join(folder, `${name}-${size}`)
    mkdirSync(target)
    const names = await unpack(chunked(archive(...options), size), target)
    expect(names.sort()).toEqual(readdirSync(packed).sort())
    for (const each of names)
      expect(readFileSync(join(target, each))).toEqual(readFileSync(join(packed, each)))
  }
})

it('what is incomplete or something else is an error', async () => {
  const target = join(folder, 'wrong')
  mkdirSync(target)
  const whole = archive('--format=pax', '-z')
  await expect(unpack(chunked(whole.subarray(0, 200), 4096), target)).rejects.toThrow()
  await expect(unpack(chunked(archive('--format=ustar').subarray(0, 20_000), 4096), target)).rejects.toThrow(
    'incomplete',
  )
  await expect(unpack(chunked(Buffer.alloc(2048, 'x'), 512), target)).rejects.toThrow('not a tar archive')
  mkdirSync(join(packed, 'sub'))
  writeFileSync(join(packed, 'sub', 'file'), 'x')
  try {
    await expect(unpack(chunked(archive('--format=ustar'), 4096), target)).rejects.toThrow('invalid name')
  } finally {
    rmSync(join(packed, 'sub'), { recursive: true })
  }
})
