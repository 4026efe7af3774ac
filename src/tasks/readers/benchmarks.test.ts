import { expect, test } from 'vitest'
import { benchmarks, taskFormats } from './index.ts'

test('every benchmark has complete information', () => {
  expect(new Set(taskFormats).size).toBe(benchmarks.length + 3)
  for (const { licence, homepage, files, title } of benchmarks) {
    expect(licence + title).not.toBe('')
    expect(files.length).toBeGreaterThan(0)
    expect(new Set(files.map(({ name }) => name)).size).toBe(files.length)
    for (const url of [homepage, ...files.map((file) => file.url)])
      expect(new URL(url).protocol).toBe('https:')
    for (const { sha256 = '0'.repeat(64) } of files) expect(sha256).toMatch(/^[0-9a-f]{64}$/)
  }
})
