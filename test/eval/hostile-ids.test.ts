import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { expect, it } from 'vitest'
import { EvalReport, RunManifest } from '../../src/schema/index.ts'
import { makeReport } from '../../src/stages/eval/index.ts'
import { writeReport } from '../../src/stages/eval/make-report.ts'
import { createRun, openRun } from '../../src/store/index.ts'
import { coa } from '../cli/coa.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { attemptOf, configOf } from './support.ts'

const config = configOf()
const hostile = [
  '../../../escaped/pwn',
  '/tmp/pwn',
  '..',
  'a/b',
  'a\\b',
  '.hidden',
  'x\0',
  'x'.repeat(101),
  '',
]

/** A run with a report whose id was changed in the log, checksum included. */
function foreignPart(runs: string, id: string): void {
  using run = createRun(runs, { id: 'part', command: 'coa eval', coa: '0' })
  run.append('attempt', attemptOf({ solver: 'one' }))
  makeReport(config, run, { solvers: ['one'] })
  run.close()
  const log = join(run.dir, 'events.jsonl')
  const lines = readFileSync(log, 'utf8').split('\n')
  const at = lines.findIndex((line) => line.includes('"kind":"eval"'))
  const { crc32: _, ...record } = JSON.parse(lines[at]!) as Record<string, unknown> & { data: object }
  const open = JSON.stringify({ ...record, id, data: { ...record.data, id } }).slice(0, -1)
  lines[at] = `${open},"crc32":"${crc32(open).toString(16).padStart(8, '0')}"}`
  writeFileSync(log, lines.join('\n'))
}

it('eval --merge writes nothing outside its folder, whatever the name of a record', () => {
  const cwd = temporaryFolder()
  mkdirSync(join(cwd, 'escaped'))
  writeFileSync(join(cwd, 'escaped', 'pwn.json'), 'mine')
  foreignPart(join(cwd, 'runs'), '../../../escaped/pwn')
  const { code, stderr } = coa(['eval', '--merge', 'part', '--run', 'joined'], { cwd })
  expect(code).not.toBe(0)
  expect(stderr).toContain('not a plain name')
  expect(readFileSync(join(cwd, 'escaped', 'pwn.json'), 'utf8')).toBe('mine')
  expect(existsSync(join(cwd, 'escaped', 'pwn.html'))).toBe(false)
  const outside = coa(['eval', '--merge', 'part', '--run', '../outside'], { cwd })
  expect(outside).toMatchObject({ code: 4, stderr: expect.stringContaining('cannot be the name of a run') })
})

it.each(hostile)('%j is refused as the name of a report or run', (id) => {
  const runs = temporaryFolder()
  using run = createRun(runs, { id: 'r', command: 'coa eval', coa: '0' })
  run.append('attempt', attemptOf({ solver: 'one' }))
  const { report } = makeReport(config, run, { solvers: ['one'] })
  expect(EvalReport.safeParse({ ...report, id }).success).toBe(false)
  expect(RunManifest.safeParse({ ...run.manifest, id }).success).toBe(false)
  expect(() => writeReport(run.files.eval, { ...report, id })).toThrow(/cannot be the name of a report/)
  expect(() => makeReport(config, run, { solvers: ['one'], id })).toThrow(/does not match its schema: id/)
  using again = openRun(run.dir)
  expect(again.count('eval')).toBe(1)
})
