import { expect, it } from 'vitest'
import { SaveTimer } from './save-timer.ts'

it('is due after the interval, and later if saving is slow', async () => {
  let now = 0
  const timer = new SaveTimer(10, () => now)
  const after = (ms: number): boolean => {
    now += ms
    return timer.isDue
  }
  const save = (ms: number): Promise<void> =>
    timer.timed(async () => {
      now += ms
    })
  expect([after(9000), after(1000)]).toEqual([false, true])
  await save(100)
  expect([after(9999), after(1)]).toEqual([false, true])
  await save(3000)
  expect([after(59_999), after(1)]).toEqual([false, true])
})
