import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { run as teach } from '../../src/stages/teach/index.ts'
import { createRun, type Run } from '../../src/store/index.ts'
import { trainingTasks } from '../../src/tasks/index.ts'
import { coa, coaJson } from '../cli/coa.ts'

let folder: string
let run: Run
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-teach-'))
  run = createRun(folder, { id: 'r', command: 'test', coa: '0.0.0' })
})
afterEach(() => {
  run.close()
  rmSync(folder, { recursive: true })
})

it('stops when aborted, and resumes without repeating any work', async () => {
  const config = ProjectConfig.parse({ tasks: { suites: ['search'], count: 6 }, teach: { concurrency: 2 } })
  const controller = new AbortController()
  const observe = ({ stage, done }: { stage: string; done: number }): void => {
    if (stage === 'teach' && done === 3) controller.abort(new Error('stop'))
  }
  for (const task of await trainingTasks({ config, observe, signal: controller.signal }))
    run.append('task', task)
  await expect(teach(config, { run, observe, signal: controller.signal })).rejects.toThrow('stop')
  const before = [...run.scan('trajectory')]
  expect(before.length).toBeGreaterThanOrEqual(3)
  expect(before.length).toBeLessThan(6)
  const summary = await teach(config, { run, observe: () => {}, signal: new AbortController().signal })
  expect(summary).toMatchObject({ tasks: 6, trajectories: 6, failed: 0 })
  const after = new Map([...run.scan('trajectory')].map((trajectory) => [trajectory.id, trajectory]))
  for (const trajectory of before) expect(after.get(trajectory.id)).toEqual(trajectory)
})

it('continues after a task that cannot be solved', async () => {
  const config = ProjectConfig.parse({ tasks: { suites: ['search'], count: 2 } })
  const signal = new AbortController().signal
  const tasks = await trainingTasks({ config, observe: () => {}, signal })
  for (const task of [...tasks, { ...tasks[0]!, id: 'foreign', suite: 'unknown' }]) run.append('task', task)
  const summary = await teach(config, { run, observe: () => {}, signal })
  expect(summary).toMatchObject({ trajectories: 3, failed: 1 })
  expect(run.get('trajectory', 'foreign@manager-careful-1')?.events.at(-1)).toMatchObject({ type: 'failed' })
})

it('the command has a dry run, runs, and can be run again', () => {
  const args = ['teach', '--suites', 'search', '-n', '2', '--set', `project.runs=${folder}/runs`]
  expect(coaJson([...args, '--dry-run'], { cwd: folder })).toMatchObject({ tasks: 2, runs: 2 })
  const first = coaJson<{ run: string; correct: number }>(args, { cwd: folder })
  expect(first.correct).toBe(2)
  const again = coaJson(['teach', first.run, '--set', `project.runs=${folder}/runs`], { cwd: folder })
  expect(again).toMatchObject({ run: first.run, trajectories: 2 })
  expect(
    coa(['teach', '--mind', 'model', '-n', '1', '--suites', 'search'], { cwd: folder }).stderr,
  ).toContain('teacher.base_url')
})
