import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/store/support/temporary-folder.ts'
import { file, marked } from '../../../test/tasks/own-file.ts'
import { ProjectConfig } from '../../pipeline/settings.ts'
import { createRun, type Run } from '../../store/index.ts'
import { heldOutTasks, readSplit } from '../../tasks/index.ts'
import type { StageContext } from '../stage.ts'
import { prepareTasks } from './stage.ts'

const configOf = (suites: ProjectConfig['tasks']['suites']): ProjectConfig =>
  ProjectConfig.parse({ tasks: { suites, count: 100 }, sandbox: { driver: 'pyodide' } })

function contextOf(config: ProjectConfig, run: Run): StageContext<ProjectConfig> {
  return { run, config, observe: () => {}, signal: new AbortController().signal }
}

const newRun = (): Run => createRun(temporaryFolder(), { command: 'test', coa: '0' })

it('trains on rows marked train and evaluates on rows marked test', async () => {
  const config = configOf([file([...marked('train', 30), ...marked('test', 30)])])
  const training = await readSplit(config, 'train', 100)
  const heldOut = await heldOutTasks(config)
  expect([training.length, heldOut.length]).toEqual([30, 30])
  expect(training.every(({ question }) => question.startsWith('train'))).toBe(true)
  expect(heldOut.every(({ question }) => question.startsWith('test'))).toBe(true)
  using run = newRun()
  expect(await prepareTasks.run(contextOf(config, run))).toMatchObject({ figures: { tasks: 30 } })
})

it.each([
  ['the same question', [{ question: 'Train 0', split: 'test' }]],
  ['the same question, in practice', [{ question: 'train 150 ?'.replace(' ?', '?'), split: 'test' }]],
])('does not begin where a held-out task is trained on too: %s', async (_, more) => {
  const config = configOf([file([...marked('train', 160), ...marked('test', 3), ...more])])
  using run = newRun()
  await expect(prepareTasks.run(contextOf(config, run))).rejects.toThrow(
    '1 of the 4 held-out tasks is trained on too',
  )
  expect(run.count('task')).toBe(0)
})

it('names the missing split, and accepts a source for each', async () => {
  const [train, other] = [file([{ question: 'a' }], 'train.jsonl'), file([{ question: 'b' }], 'more.jsonl')]
  await expect(heldOutTasks(configOf([train]))).rejects.toMatchObject({
    message: expect.stringContaining('no tasks of split test'),
    fix: expect.stringContaining('split = "test"'),
  })
  const held = await heldOutTasks(configOf([train, { from: other, split: 'test' }]))
  expect(held.map(({ question }) => question)).toEqual(['b'])
})

it('reads a source according to its table', async () => {
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
