import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import type { RunManifest } from '../schema/index.ts'
import { readManifest, withStage, writeManifest } from './manifest-file.ts'

const manifest: RunManifest = {
  v: 1,
  id: 'r',
  createdAt: '2026-01-01T00:00:00.000Z',
  coa: '0.0.0',
  command: 'coa test',
  stages: {},
}

test('reads back what was written, and leaves no temporary file', () => {
  const dir = temporaryFolder()
  writeManifest(join(dir, 'manifest.json'), manifest)
  expect(readManifest(join(dir, 'manifest.json'))).toEqual(manifest)
  expect(readdirSync(dir)).toEqual(['manifest.json'])
})

test('reports a missing or damaged manifest', () => {
  const path = join(temporaryFolder(), 'manifest.json')
  expect(() => readManifest(path)).toThrow(/is not a run folder/)
  writeFileSync(path, '{"v":1')
  expect(() => readManifest(path)).toThrow(/is damaged/)
  writeFileSync(path, '{"v":2}')
  expect(() => readManifest(path)).toThrow(/is damaged/)
})

test('a stage keeps its start time until it is restarted', () => {
  const startedAt = '2026-01-01T00:00:01.000Z'
  const running = withStage(manifest, 'teach', { status: 'running', startedAt, summary: { kept: 1 } })
  expect(running.stages['teach']).toEqual({ status: 'running', startedAt, summary: { kept: 1 } })
  const amended = withStage(running, 'teach', { status: 'running' })
  expect(amended.stages['teach']).toEqual({ status: 'running', startedAt, summary: { kept: 1 } })
  const done = withStage(amended, 'teach', { status: 'done', summary: { kept: 2 } })
  expect(done.stages['teach']).toMatchObject({ status: 'done', startedAt, summary: { kept: 2 } })
  expect(done.stages['teach']?.endedAt).toBeDefined()
  const again = withStage(done, 'teach', { status: 'running' })
  expect(again.stages['teach']).toMatchObject({ status: 'running', summary: {} })
  expect(again.stages['teach']?.endedAt).toBeUndefined()
  expect(again.stages['teach']?.startedAt).not.toBe(startedAt)
})

test('rejects an invalid stage', () => {
  expect(() => withStage(manifest, 'teach', { status: 'running', startedAt: 'yesterday' })).toThrow(
    /is not valid in the manifest/,
  )
})
