import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { digestOf, sha256, sha256OfFile } from './index.ts'

// Caches, run ids and reports are looked up by these values.
test('digests are stable', () => {
  expect([digestOf(), digestOf('a', { b: 1 }), digestOf(undefined, [1, null])]).toEqual([
    '4f53cda18c2baa0c',
    '3d6f51e1fd2489c7',
    '01903e412dd9b768',
  ])
})

test('the digest of a file is that of its content, across chunks too', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coa-digest-'))
  try {
    for (const size of [0, 5, (1 << 20) + 1]) {
      const content = Buffer.alloc(size, 'é')
      writeFileSync(join(folder, 'file'), content)
      expect(sha256OfFile(join(folder, 'file'))).toBe(sha256(content))
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})
