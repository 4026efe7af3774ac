import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/store/support/temporary-folder.ts'
import { file, marked } from '../../../test/tasks/own-file.ts'
import { ProjectConfig } from '../../pipeline/settings.ts'
import type { Task } from '../../schema/index.ts'
import { createRun, type Run } from '../../store/index.ts'
import { readSplit } from '../../tasks/index.ts'
import { practiceTasks } from './practice-tasks.ts'

const configOf = (suites: ProjectConfig['tasks']['suites']): ProjectConfig =>
  ProjectConfig.parse({ tasks: { suites, count: 100 } })

const newRun = (): Run => createRun(temporaryFolder(), { command: 'test', coa: '0' })

const own: Task = {
  v: 1,
  id: 'order-1',
  suite: 'orders',
  domain: 'orders',
  question: 'Where is order 1?',
  gold: { checker: 'exact', answers: ['Bonn'] },
  meta: {},
}
const trajectory = {
  v: 1 as const,
  id: 'r',
  taskId: 'order-1',
  team: 'm',
  question: 'q',
  events: [],
  meta: {},
}

it('uses the tasks a run was recorded from, not those that the settings happen to name', async () => {
  using run = newRun()
  run.append('task', own)
  run.append('trajectory', trajectory)
  const notes: string[] = []
  const config = configOf(['math'])
  const practice = await practiceTasks(run, config, { onNote: (note) => notes.push(note) })
  expect(practice).toEqual({ tasks: [own], fromSettings: false })
  expect(notes).toEqual([expect.stringContaining("training on the run's own 1 tasks (orders)")])
  // Others are used if named explicitly.
  const asked = await practiceTasks(run, config, { asked: true })
  expect(asked.fromSettings).toBe(true)
  expect(new Set(asked.tasks.map(({ suite }) => suite))).toEqual(new Set(['math']))
})

it("does not use other tasks if the run's own are unknown", async () => {
  using run = newRun()
  run.append('trajectory', trajectory)
  await expect(practiceTasks(run, configOf(['math']))).rejects.toThrow('was recorded without its tasks')
})

it('an exhausted source repeats its tasks, and the team keeps them', async () => {
  using run = newRun()
  const config = configOf([file(marked('train', 2))])
  for (const task of await readSplit(config, 'train', 100)) run.append('task', task)
  const { tasks } = await practiceTasks(run, config)
  expect(tasks.map(({ id }) => id)).toEqual(['mine:0+rl', 'mine:1+rl'])
  expect(run.get('task', 'mine:0')?.meta['for']).toBeUndefined()
  expect((await practiceTasks(run, config)).tasks).toEqual(tasks)
})

it('leaves out paraphrases of the test questions of its own sources, and says so', async () => {
  const asked = (name: string, boxes: number, pens: number): string =>
    `${name} packs ${boxes} boxes with ${pens} pens in each and gives ${boxes + 1} of them away. How many are left?`
  const rows = [
    { id: 'a', question: asked('Ann', 3, 12), answer: '32', split: 'train' },
    { id: 'b', question: 'Where does the river that Ann crosses end?', answer: '5', split: 'train' },
    { id: 'c', question: asked('Bo', 7, 20), answer: '136', split: 'test' },
  ]
  const config = configOf([file(rows)])
  using run = newRun()
  const notes: string[] = []
  const { tasks } = await practiceTasks(run, config, { onNote: (note) => notes.push(note) })
  expect(tasks.map(({ id }) => id)).toEqual(['mine:b'])
  expect(notes).toEqual([
    expect.stringMatching(/^not practicing on 1 of 2 tasks: 1 × question is a paraphrase/),
  ])
  const all = { ...config, filter: { ...config.filter, against: [] } }
  expect((await practiceTasks(run, all)).tasks).toHaveLength(2)
})
