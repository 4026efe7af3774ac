import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { showProgress } from './progress.ts'

let lines: string[] = []
beforeEach(() => {
  lines = []
  vi.useFakeTimers()
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    lines.push(String(text).trim())
    return true
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test('a long wait shows what it waits for and how long it has taken, until it is over', () => {
  const observe = showProgress()
  observe({ stage: 'sft', done: 0, unit: 'opening the model' })
  vi.advanceTimersByTime(900)
  expect(lines).toEqual([])
  vi.advanceTimersByTime(1_600)
  expect(lines).toEqual(['sft opening the model 1 s'])
  vi.advanceTimersByTime(30_000)
  expect(lines.slice(1)).toEqual(['sft opening the model 16 s', 'sft opening the model 31 s'])
  observe.done()
  vi.advanceTimersByTime(60_000)
  expect(lines.length).toBe(3)
})

test('short work prints nothing, and news are shown sooner than waits', () => {
  const short = showProgress()
  short({ stage: 'sft', done: 1, total: 2, unit: 'steps' })
  vi.advanceTimersByTime(500)
  short.done()
  vi.advanceTimersByTime(10_000)
  expect(lines).toEqual([])
  const observe = showProgress()
  for (let step = 1; step <= 12; step++) {
    observe({ stage: 'sft', done: step, total: 20, unit: 'steps' })
    vi.advanceTimersByTime(1_000)
  }
  expect(lines.length).toBe(3)
  expect(lines[1]).toMatch(/^sft █+░+ \d+% \d+\/20 steps \d+ s$/)
  observe.done()
})
