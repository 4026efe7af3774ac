import { expect, test } from 'vitest'
import { LiveState } from './live-state.ts'

const stages = ['teach', 'sft', 'rl'].map((name) => ({ name, purpose: '' }))
const statuses = (state: LiveState): string[] => state.stages.map(({ status }) => status)

test('a stage that starts completes the one before', () => {
  const state = new LiveState(stages, 0)
  state.progress({ stage: 'teach', done: 1, total: 2 }, 10)
  expect(statuses(state)).toEqual(['running', 'waiting', 'waiting'])
  state.progress({ stage: 'sft', done: 1 }, 30)
  expect(statuses(state)).toEqual(['done', 'running', 'waiting'])
  expect(state.stages[0]).toMatchObject({ began: 10, ended: 30 })
})

test('progress of an unknown stage goes to the running stage, or becomes its own', () => {
  const state = new LiveState(stages, 0)
  state.progress({ stage: 'reindex', done: 1 }, 0)
  expect(state.stages.map(({ name }) => name)).toEqual(['teach', 'sft', 'rl', 'reindex'])
  state.progress({ stage: 'sft', done: 1 }, 5)
  state.progress({ stage: 'validate', done: 7, total: 9 }, 6)
  expect(state.running).toMatchObject({ name: 'sft', progress: { done: 7, total: 9 } })
})

test('curves are those of the running stage, and contain only numbers', () => {
  const state = new LiveState(stages, 0)
  state.metric({ stage: 'sft', step: 1, loss: 2, gradientNorm: 9 })
  state.metric({ stage: 'sft', step: 2, loss: 'NaN' })
  state.metric({ stage: 'sft', step: 3, loss: 1, evalLoss: 1.5 })
  state.metric({ stage: 'rl', step: 1, reward_mean: 0.5 })
  expect(state.curves).toEqual([])
  state.mark('sft', 'running', undefined, 0)
  expect(state.curves).toEqual([
    { name: 'loss', values: [2, 1] },
    { name: 'evalLoss', values: [1.5] },
  ])
})

test('a trajectory is kept as pieces of model and tool text until the next one begins', () => {
  const state = new LiveState(stages, 0)
  for (const piece of ['<co', 'de>']) state.text(piece, 'model')
  state.text('4\u001b[2J2', 'tool')
  expect(state.pieces).toEqual([
    { from: 'model', text: '<code>' },
    { from: 'tool', text: '4\ufffd[2J2' },
  ])
  state.trajectory('an\nother')
  expect([state.title, state.pieces]).toEqual(['an other', []])
})

test('keeps only the end of a long text', () => {
  const state = new LiveState(stages, 0)
  for (let at = 0; at < 100; at++) state.text('x'.repeat(1000), 'model')
  expect(state.pieces[0]!.text).toHaveLength(20_000)
})
