import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import type { Task } from '../schema/index.ts'
import { ProjectConfig } from '../settings/index.ts'
import { createRun, type Run } from '../store/index.ts'
import { practiceTasks } from './practice-tasks.ts'
import type { StageContext } from './stage.ts'
import { heldOutTasks, readSplit } from './task-sets.ts'
import { makeTasks } from './tasks.ts'

interface Row {
  question: string
  split?: string
}

function file(rows: readonly Row[], name = 'mine.jsonl'): string {
  const path = join(temporaryFolder(), name)
  writeFileSync(path, rows.map((row, id) => JSON.stringify({ id, answer: '1', ...row })).join('\n'))
  return path
}

const marked = (split: string, count: number): Row[] =>
  Array.from({ length: count }, (_, at) => ({ question: `${split} ${at}?`, split }))

const configOf = (suites: ProjectConfig['tasks']['suites']): ProjectConfig =>
  ProjectConfig.parse({ tasks: { suites, count: 100 }, sandbox: { driver: 'pyodide' } })

function contextOf(config: ProjectConfig, run: Run): StageContext {
  return { run, config, observe: () => {}, signal: new AbortController().signal }
}

const newRun = (): Run => createRun(temporaryFolder(), { command: 'test', coa: '0' })

it('trains on the rows marked train and measures on those marked test', async () => {
  const config = configOf([file([...marked('train', 30), ...marked('test', 30)])])
  const training = await readSplit(config, 'train', 100)
  const heldOut = await heldOutTasks(config)
  expect([training.length, heldOut.length]).toEqual([30, 30])
  expect(training.every(({ question }) => question.startsWith('train'))).toBe(true)
  expect(heldOut.every(({ question }) => question.startsWith('test'))).toBe(true)
  using run = newRun()
  expect(await makeTasks(contextOf(config, run))).toMatchObject({ tasks: 30 })
})

it.each([
  ['the same question', [{ question: 'Train 0', split: 'test' }]],
  ['the same question, in practice', [{ question: 'train 150 ?'.replace(' ?', '?'), split: 'test' }]],
])('does not begin where a held-out task is trained on too: %s', async (_, more) => {
  const config = configOf([file([...marked('train', 160), ...marked('test', 3), ...more])])
  using run = newRun()
  await expect(makeTasks(contextOf(config, run))).rejects.toThrow(
    '1 of the 4 held-out tasks is trained on too',
  )
  expect(run.count('task')).toBe(0)
})

it('says which split is missing, and takes a source for each', async () => {
  const [train, other] = [file([{ question: 'a' }], 'train.jsonl'), file([{ question: 'b' }], 'more.jsonl')]
  await expect(heldOutTasks(configOf([train]))).rejects.toMatchObject({
    message: expect.stringContaining('no tasks of split test'),
    fix: expect.stringContaining('split = "test"'),
  })
  const held = await heldOutTasks(configOf([train, { from: other, split: 'test' }]))
  expect(held.map(({ question }) => question)).toEqual(['b'])
})

it('reads a source as its table says', async () => {
  const path = join(temporaryFolder(), 'odd.csv')
  writeFileSync(path, 'frage,antwort\nWho?,Ada\n')
  const table = {
    from: path,
    map: { question: 'frage', answer: 'antwort' },
    checker: 'judge' as const,
    domain: 'web',
    split: 'train' as const,
  }
  expect(await readSplit(configOf([table]), 'train', 5)).toMatchObject([
    { question: 'Who?', domain: 'web', split: 'train', gold: { checker: 'judge', answer: 'Ada' } },
  ])
})

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

it('practises on the tasks a run was recorded from, not on those that the settings happen to name', async () => {
  using run = newRun()
  run.append('task', own)
  run.append('trajectory', trajectory)
  const notes: string[] = []
  const config = configOf(['math'])
  const practice = await practiceTasks(run, config, { onNote: (note) => notes.push(note) })
  expect(practice).toEqual({ tasks: [own], fromSettings: false })
  expect(notes).toEqual([expect.stringContaining('practising on the 1 tasks of the run itself (orders)')])
  // Asked for by name, others are taken.
  const asked = await practiceTasks(run, config, { asked: true })
  expect(asked.fromSettings).toBe(true)
  expect(new Set(asked.tasks.map(({ suite }) => suite))).toEqual(new Set(['math']))
})

it('does not practise on other tasks where those of the run are not known', async () => {
  using run = newRun()
  run.append('trajectory', trajectory)
  await expect(practiceTasks(run, configOf(['math']))).rejects.toThrow('was recorded without its tasks')
})

it('a source that has no more tasks gives its own again, and the team keeps them', async () => {
  using run = newRun()
  const config = configOf([file(marked('train', 2))])
  for (const task of await readSplit(config, 'train', 100)) run.append('task', task)
  const { tasks } = await practiceTasks(run, config)
  expect(tasks.map(({ id }) => id)).toEqual(['mine:0+rl', 'mine:1+rl'])
  expect(run.get('task', 'mine:0')?.meta['for']).toBeUndefined()
  expect((await practiceTasks(run, config)).tasks).toEqual(tasks)
})
