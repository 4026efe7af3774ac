import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import { createRun } from './create-run.ts'
import { runFiles } from './run-files.ts'

const options = { command: 'coa test', coa: '1.2.3' }

test('creates the whole folder and its parents', () => {
  const runs = join(temporaryFolder(), 'deep', 'runs')
  using run = createRun(runs, { ...options, id: 'mine', configToml: '' })
  expect(readdirSync(runs)).toEqual(['mine'])
  expect(readdirSync(run.dir).toSorted()).toEqual([
    'checkpoints',
    'config.toml',
    'eval',
    'events.jsonl',
    'index.sqlite',
    'lock',
    'log.txt',
    'manifest.json',
    'metrics.jsonl',
  ])
  expect(run.manifest).toMatchObject({ id: 'mine', command: 'coa test', coa: '1.2.3', stages: {} })
  expect(runFiles(run.dir).manifest).toBe(join(runs, 'mine', 'manifest.json'))
})

test('rejects an existing id without touching the run, and a path as an id', () => {
  const runs = temporaryFolder()
  createRun(runs, { ...options, id: 'mine' }).close()
  expect(() => createRun(runs, { ...options, id: 'mine' })).toThrow(/already exists/)
  expect(() => createRun(runs, { ...options, id: '../mine' })).toThrow(/cannot be the name/)
  expect(readdirSync(runs)).toEqual(['mine'])
})

test('removes what a killed creation left behind', () => {
  const runs = temporaryFolder()
  // No process can have this id: it is above the maximum that Linux allows.
  const leftover = join(runs, `.dead.${hostname()}-4999999-0123456789ab.tmp`)
  const others = join(runs, `.far.elsewhere-4999999-0123456789ab.tmp`)
  mkdirSync(leftover)
  writeFileSync(join(leftover, 'manifest.json'), '')
  mkdirSync(others)
  createRun(runs, { ...options, id: 'mine' }).close()
  expect(readdirSync(runs).toSorted()).toEqual(['.far.elsewhere-4999999-0123456789ab.tmp', 'mine'])
})

test.skipIf(!existsSync('/proc/self'))('a folder that cannot be created fails immediately', () => {
  expect(() => createRun('/proc/runs', { command: 'test', coa: '0.0.0' })).toThrow('cannot create the folder')
})
