import { expect, it } from 'vitest'
import { makeReport, pickWithJudge } from '../../src/stages/eval/index.ts'
import type { ChatModel, CompletionRequest } from '../../src/world/models/index.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { attemptOf, configOf, runIn, tasksOf } from './support.ts'

it('a judge sees question and answers, chooses once, and its choice is stored', async () => {
  using run = runIn(temporaryFolder())
  const tasks = tasksOf(3)
  const answers: Record<string, [string | undefined, 'correct' | 'wrong'][]> = {
    t0: [
      ['blue', 'wrong'],
      ['red', 'correct'],
      ['blue', 'wrong'],
    ],
    t1: [
      ['up', 'wrong'],
      ['up', 'wrong'],
      ['down', 'correct'],
    ],
    t2: [
      [undefined, 'wrong'],
      ['alone', 'correct'],
      [undefined, 'wrong'],
    ],
  }
  for (const [position, { id }] of tasks.entries())
    for (const [attempt, [answer, outcome]] of answers[id]!.entries())
      run.append('attempt', {
        ...attemptOf({ id: `${id}#${attempt}`, taskId: id, position, attempt, outcome }),
        ...(answer === undefined ? {} : { answer }),
      })
  const prompts: string[] = []
  const judge = {
    name: 'judge',
    complete: async (request: CompletionRequest) => {
      const prompt = 'prompt' in request ? request.prompt : ''
      prompts.push(prompt)
      if (!prompt.includes('red')) throw new Error('I cannot decide.')
      return { object: { reason: 'Blue is not a color here.', choice: 2 } }
    },
  } as unknown as ChatModel
  const context = { run, tasks, solvers: ['s'], signal: new AbortController().signal, concurrency: 2 }
  await pickWithJudge(judge, context)
  // Each distinct answer once, between markers that no answer can guess.
  const bare = prompts.map((prompt) => prompt.replaceAll(/<<[^>]*>>\n|Which of the.*$/g, '').trim())
  expect(bare.sort()).toEqual([
    'What is 0 + 1?\n\nAnswer: blue\n\nAnswer: red',
    'What is 1 + 1?\n\nAnswer: up\n\nAnswer: down',
  ])
  expect([...run.scan('attempt')].filter(({ picked }) => picked).map(({ id }) => id)).toEqual([
    't0#1',
    't2#1',
  ])
  await pickWithJudge(judge, context)
  expect(prompts).toHaveLength(2)
  const { report } = makeReport(configOf({ picker: 'judge' }), run, { solvers: ['s'] })
  // Without a choice, the majority is used: wrong for t1.
  expect(report.solvers[0]).toMatchObject({
    majority: { value: 1 / 3 },
    best: { value: 2 / 3, picker: 'judge' },
  })
})
