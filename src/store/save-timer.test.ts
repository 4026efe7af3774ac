import { expect, it } from 'vitest'
import { SaveTimer } from './save-timer.ts'

it('is due after the interval, and later if saving is slow', async () => {
  let now = 0
  const timer = new SaveTimer(10, () => now)
  const after = (ms: number): boolean => {
    now += ms
    return timer.isDue
  }
  const save = async (ms: number): Promise<void> => {
    await timer.start(async () => {
      now += ms
    })
    await timer.settle()
  }
  expect([after(9000), after(1000)]).toEqual([false, true])
  await save(100)
  expect([after(9999), after(1)]).toEqual([false, true])
  await save(3000)
  expect([after(59_999), after(1)]).toEqual([false, true])
})

it('saves in the background, one checkpoint at a time', async () => {
  let now = 0
  const timer = new SaveTimer(0, () => now)
  const first = Promise.withResolvers<void>()
  const order: string[] = []
  await timer.start(() => first.promise.then(() => void order.push('first')))
  order.push('training')
  now += 1000
  expect(timer.isDue).toBe(false)
  const second = timer.start(async () => void order.push('second'))
  first.resolve()
  await second
  await timer.settle()
  expect(order).toEqual(['training', 'first', 'second'])
})

it('reports the error of a save once, as soon as it is asked', async () => {
  const timer = new SaveTimer(0)
  await timer.start(() => Promise.reject(new Error('disk full')))
  await new Promise(setImmediate)
  expect(() => timer.throwIfFailed()).toThrow('disk full')
  await timer.settle()
})
