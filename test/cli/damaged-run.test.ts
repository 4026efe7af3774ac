import { readdirSync, readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createRun } from '../../src/store/index.ts'
import { task } from '../store/support/records.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { coa, coaJson } from './coa.ts'

function projectWithRun(command: string): { cwd: string; dir: string } {
  const cwd = temporaryFolder()
  const run = createRun(join(cwd, 'runs'), { id: 'r', command, coa: '0', configToml: '[rl]\nsteps = 7\n' })
  for (const id of ['a', 'b', 'c']) run.append('task', task(id))
  run.setStage('tasks', { status: 'done' })
  run.close()
  return { cwd, dir: run.dir }
}

it('a log truncated at a line end sets the exit code, and the run is rejected until it is reindexed', () => {
  const { cwd, dir } = projectWithRun('coa teach')
  const log = join(dir, 'events.jsonl')
  truncateSync(log, readFileSync(log).indexOf('\n') + 1)
  const shown = coa(['run', 'show', 'r'], { cwd })
  expect(shown.code).toBe(4)
  expect(shown.stdout).toContain('records: 1 task')
  expect(shown.stdout).toContain('events.jsonl has lost 2 lines')
  expect(coaJson<{ damaged: string[] }>(['run', 'verify', 'r'], { cwd }).damaged.join()).toContain(
    'lost 2 lines',
  )
  expect(coa(['teach', 'r'], { cwd })).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('run reindex'),
  })
  expect(coa(['run', 'reindex', 'r'], { cwd }).code).toBe(0)
  expect(coa(['run', 'show', 'r'], { cwd }).code).toBe(0)
})

it('verify finds damaged records and reports', () => {
  const { cwd, dir } = projectWithRun('coa teach')
  const log = join(dir, 'events.jsonl')
  writeFileSync(log, readFileSync(log, 'utf8').replace('"id":"b"', '"id":"d"'))
  writeFileSync(join(dir, 'report.html'), '<p>x</p>\n<!-- checksum of the lines above: 00000000 -->\n')
  const { code, stdout } = coa(['run', 'verify', 'r'], { cwd })
  expect(code).toBe(3)
  expect(stdout).toContain('events.jsonl: line 2')
  expect(stdout).toContain('report.html')
  const shown = coa(['run', 'show', 'r', '--kind', 'task'], { cwd })
  expect(shown.stderr).toContain(
    '1 damaged line in events.jsonl skipped (line 2: its checksum does not match)',
  )
})

it('the quickstart reports why it does not resume a run', () => {
  const { cwd, dir } = projectWithRun('coa quickstart')
  const lock = join(dir, 'lock')
  const owner = { pid: 1, host: 'container-1', command: 'coa quickstart', startedAt: 'then', token: 't' }
  writeFileSync(lock, JSON.stringify(owner))
  const start = (): string => {
    // A missing tokenizer keeps the new run from doing any work.
    const { stderr } = coa(['quickstart', '--fast', '--set', 'language.tokenizer=nowhere'], { cwd })
    for (const name of readdirSync(join(cwd, 'runs')))
      if (name !== 'r') rmSync(join(cwd, 'runs', name), { recursive: true })
    return stderr
  }
  expect(start()).toContain(
    'not resuming r: it is in use by process 1 on container-1 (coa quickstart) since then; starting a new run',
  )
  utimesSync(lock, 0, 0)
  expect(start()).toContain('not resuming r: it stopped in teach and has different settings')
  writeFileSync(join(dir, 'manifest.json'), '{}')
  expect(start()).toMatch(/not resuming r: .*manifest\.json is damaged/)
})
