import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { task } from '../../test/store/support/records.ts'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import { createRun } from './create-run.ts'
import { listRuns } from './list-runs.ts'

const options = { command: 'coa test', coa: '0.0.0' }

test('lists runs with their counts and the process that is writing', () => {
  const runs = temporaryFolder()
  const done = createRun(runs, { ...options, id: 'done' })
  done.append('task', task('a'))
  done.setStage('teach', { status: 'done' })
  done.close()
  using _busy = createRun(runs, { ...options, id: 'busy', command: 'coa teach' })
  const [busy, first] = listRuns(runs)
  expect(first).toMatchObject({
    id: 'done',
    counts: { task: 1 },
    command: 'coa test',
    stages: { teach: { status: 'done' } },
  })
  expect(first?.bytes).toBeGreaterThan(100)
  expect(first).not.toHaveProperty('lockedBy')
  expect(first).not.toHaveProperty('problem')
  expect(busy).toMatchObject({ id: 'busy', counts: {}, lockedBy: { pid: process.pid, command: 'coa teach' } })
})

test('a broken run is listed with its problem', () => {
  const runs = temporaryFolder()
  for (const id of ['a-no-manifest', 'b-bad-manifest', 'c-no-log', 'd-bad-lock', 'e-bad-index', 'f-behind']) {
    const run = createRun(runs, { ...options, id })
    run.append('task', task('a'))
    run.close()
  }
  rmSync(join(runs, 'a-no-manifest', 'manifest.json'))
  writeFileSync(join(runs, 'b-bad-manifest', 'manifest.json'), '{')
  rmSync(join(runs, 'c-no-log', 'events.jsonl'))
  writeFileSync(join(runs, 'd-bad-lock', 'lock'), 'me')
  writeFileSync(join(runs, 'e-bad-index', 'index.sqlite'), 'x'.repeat(5000))
  appendFileSync(join(runs, 'f-behind', 'events.jsonl'), 'more\n')
  mkdirSync(join(runs, '.hidden'))
  writeFileSync(join(runs, 'file'), '')
  const byId = Object.fromEntries(listRuns(runs).map((summary) => [summary.id, summary]))
  expect(Object.keys(byId)).toHaveLength(6)
  expect(byId['a-no-manifest']?.problem).toMatch(/not a run folder/)
  expect(byId['b-bad-manifest']?.problem).toMatch(/damaged/)
  expect(byId['c-no-log']?.problem).toMatch(/events\.jsonl is missing/)
  expect(byId['d-bad-lock']?.problem).toMatch(/is damaged/)
  for (const id of ['e-bad-index', 'f-behind']) {
    expect(byId[id]).not.toHaveProperty('problem')
    expect(byId[id]).not.toHaveProperty('counts')
  }
})

test('a missing folder has no runs', () => {
  expect(listRuns(join(temporaryFolder(), 'missing'))).toEqual([])
})
