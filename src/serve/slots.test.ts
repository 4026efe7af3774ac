import { expect, it } from 'vitest'
import { Slots } from './slots.ts'

const never = new AbortController().signal

it('runs as many at once as it may, in order, and refuses what does not fit the queue', async () => {
  const slots = new Slots(2, 2)
  const ends: (() => void)[] = []
  const began: number[] = []
  const work = (number: number) => () =>
    new Promise<void>((resolve) => {
      began.push(number)
      ends.push(resolve)
    })
  slots.assertRoom(4)
  expect(() => slots.assertRoom(5)).toThrow('busy')
  const leaving = new AbortController()
  const all = [1, 2].map((number) => slots.run(work(number), never))
  const third = slots.run(work(3), leaving.signal)
  all.push(slots.run(work(4), never))
  await Promise.resolve()
  expect([began, slots.running, slots.waiting]).toEqual([[1, 2], 2, 2])
  expect(() => slots.assertRoom(1)).toThrow('2 chains run and 2 wait')
  leaving.abort(new Error('gone'))
  await expect(third).rejects.toThrow('gone')
  expect(slots.waiting).toBe(1)
  ends[0]!()
  await all[0]
  await Promise.resolve()
  expect([began, slots.running, slots.waiting]).toEqual([[1, 2, 4], 2, 0])
  for (const end of ends) end()
  await Promise.all(all)
  expect(slots.running).toBe(0)
  await expect(slots.run(() => Promise.reject(new Error('failed')), never)).rejects.toThrow('failed')
  expect(slots.running).toBe(0)
})
