import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeSequence } from '../../test/filter/make-sequence.ts'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import type { Task } from '../schema/index.ts'
import { createRun, type Run } from '../store/index.ts'
import { findRun } from './find-run.ts'

const task: Task = {
  v: 1,
  id: 't',
  suite: 's',
  domain: 'math',
  question: 'q',
  gold: { checker: 'math', answer: '1' },
  meta: {},
}

it('"latest" is the newest run that has what the command needs', () => {
  const runs = temporaryFolder()
  const made = (id: string, command: string, fill: (run: Run) => void = () => {}): string => {
    using run = createRun(runs, { id, command, coa: '0' })
    fill(run)
    return run.dir
  }
  const trajectory = { v: 1 as const, id: 'r', taskId: 't', team: 'm', question: 'q', events: [], meta: {} }
  expect(() => findRun(runs, 'latest')).toThrow('there is no run in')
  const trained = made('2026-1', 'coa quickstart', (run) => {
    run.append('task', task)
    run.append('trajectory', trajectory)
    run.append('sequence', makeSequence({ id: 'a' }))
    run.setStage('sft', { status: 'done', summary: {} })
  })
  expect(() => findRun(runs, 'latest', 'rl')).toThrow('no run with RL steps')
  const taught = made('2026-2', 'coa teach', (run) => {
    run.append('task', task)
    run.append('trajectory', trajectory)
  })
  // An evaluation of a team also has trajectories and tasks.
  const evaluated = made('2026-3', 'coa eval', (run) => {
    run.append('task', { ...task, meta: { for: 'eval' } })
    run.append('trajectory', trajectory)
  })
  expect(findRun(runs, 'latest')).toBe(evaluated)
  expect(findRun(runs, 'latest', 'tasks')).toBe(taught)
  expect(findRun(runs, 'latest', 'trajectories')).toBe(taught)
  expect(findRun(runs, 'latest', 'sequences')).toBe(trained)
  expect(findRun(runs, 'latest', 'training')).toBe(trained)
  // A run given by name need not have what "latest" requires.
  expect(findRun(runs, '2026-3', 'sequences')).toBe(join(runs, '2026-3'))
})
