import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import {
  jsonChecksumState,
  parseCheckedJson,
  readCheckedText,
  withJsonChecksum,
  withTextChecksum,
} from './checksum.ts'
import { MetricsWriter, readMetrics } from './metrics-file.ts'
import { readSettingsFile, writeSettingsFile } from './settings-file.ts'

function* flips(bytes: Buffer): Generator<{ bit: number; flipped: Buffer }> {
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const flipped = Buffer.from(bytes)
    flipped[bit >> 3]! ^= 1 << (bit & 7)
    yield { bit, flipped }
  }
}

test.each([
  ['toml', '[rl]\nsteps = 7\nname = "x"\n'],
  ['html', '# A report\n\nAll is well.\n'],
] as const)('detects every flipped bit in a %s text with a checksum', (kind, text) => {
  const content = withTextChecksum(text, kind)
  expect(readCheckedText(content)).toEqual({ text, state: 'intact' })
  expect(readCheckedText(text)).toEqual({ text, state: 'absent' })
  for (const { bit, flipped } of flips(Buffer.from(content))) {
    expect(readCheckedText(flipped.toString('utf8')).state, `bit ${bit}`).toBe('broken')
  }
})

test('every flipped bit in JSON with a checksum breaks the JSON or the checksum', () => {
  const content = withJsonChecksum(JSON.stringify({ v: 1, name: 'é', list: [1] }, null, 2)).trimEnd()
  expect(JSON.parse(content)).toMatchObject({ v: 1, name: 'é', list: [1] })
  expect(jsonChecksumState(Buffer.from(content))).toBe('intact')
  expect(jsonChecksumState(Buffer.from('{"v":1}'))).toBe('absent')
  for (const { bit, flipped } of flips(Buffer.from(`${content}\n`))) {
    expect(() => parseCheckedJson(flipped, 'file', 'fix'), `bit ${bit}`).toThrow()
  }
})

test('a flipped bit in the metrics costs one row and is reported', () => {
  const path = join(temporaryFolder(), 'metrics.jsonl')
  const writer = new MetricsWriter(path)
  for (const step of [1, 2, 3]) writer.append({ step, t: 0 })
  writer.close()
  const rows = [...readMetrics(path)]
  expect(rows).toEqual([1, 2, 3].map((step) => ({ t: 0, step })))
  const line = `${withJsonChecksum('{"t":0,"step":2}')}`
  const rest = withJsonChecksum('{"t":0,"step":3}')
  for (const { bit, flipped } of flips(Buffer.from(line.trimEnd()))) {
    writeFileSync(path, Buffer.concat([flipped, Buffer.from(`\n${rest}`)]))
    const damages: number[] = []
    // A flip may create a newline: then both halves are damaged.
    expect([...readMetrics(path, (damage) => damages.push(damage.line))], `bit ${bit}`).toEqual([
      { t: 0, step: 3 },
    ])
    expect(damages.length).toBeGreaterThan(0)
  }
})

test('modified settings are rejected until their checksum is removed', () => {
  const path = join(temporaryFolder(), 'config.toml')
  writeSettingsFile(path, '[rl]\nsteps = 7\n')
  expect(readSettingsFile(path)).toBe('[rl]\nsteps = 7\n')
  writeFileSync(path, withTextChecksum('[rl]\nsteps = 7\n', 'toml').replace('7', '8'))
  expect(() => readSettingsFile(path)).toThrow(/damaged or changed/)
  writeFileSync(path, '[rl]\nsteps = 8\n# mine\n')
  expect(readSettingsFile(path)).toContain('8')
})
