import { describe, expect, test } from 'vitest'
import { inParallel, limiter } from './index.ts'

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

describe('limiter', () => {
  test('never exceeds its limit and runs tasks in order, even if some fail', async () => {
    const limited = limiter(2)
    let inside = 0
    let most = 0
    const order: number[] = []
    await Promise.allSettled(
      numbers(20).map((index) =>
        limited(async () => {
          order.push(index)
          most = Math.max(most, ++inside)
          await soon()
          inside--
          if (index % 5 === 0) throw new Error('failed')
        }),
      ),
    )
    expect([most, inside]).toEqual([2, 0])
    expect(order).toEqual(numbers(20))
  })

  test('removes aborted tasks from the queue', async () => {
    const limited = limiter(1)
    const controller = new AbortController()
    let release = (): void => {}
    const first = limited(() => new Promise<void>((resolve) => (release = resolve)))
    const second = limited(async () => 'second', controller.signal)
    const third = limited(async () => 'third')
    controller.abort('no more')
    await expect(second).rejects.toBe('no more')
    await expect(limited(async () => 'late', controller.signal)).rejects.toBe('no more')
    release()
    await first
    expect(await third).toBe('third')
    expect(await limited(async () => 'fourth')).toBe('fourth')
  })
})

describe('inParallel', () => {
  test('processes all items of a list or a source in order, without reading ahead', async () => {
    let given = 0
    let ended = 0
    async function* source(): AsyncGenerator<number> {
      for (const number of numbers(50)) {
        await soon()
        given++
        yield number
      }
    }
    for (const items of [numbers(50), source()]) {
      const started: number[] = []
      await inParallel(items, 3, async (item, index) => {
        expect(item).toBe(index)
        started.push(item)
        expect(started.length - ended).toBeLessThanOrEqual(3)
        if (items !== undefined && given > 0) expect(given - ended).toBeLessThanOrEqual(5)
        await soon()
        ended++
      })
      expect(started).toEqual(numbers(50))
      ended = 0
    }
    await inParallel([], 3, async () => expect.unreachable())
  })

  test('after a failure starts nothing new, waits for running tasks, and closes the source', async () => {
    let closed = false
    function* source(): Generator<number> {
      try {
        yield* numbers(100)
      } finally {
        closed = true
      }
    }
    const started: number[] = []
    const ended: number[] = []
    const all = inParallel(source(), 4, async (item) => {
      started.push(item)
      if (item === 5) throw new Error('five')
      for (let turns = 0; turns < 20; turns++) await soon()
      ended.push(item)
    })
    await expect(all).rejects.toThrow('five')
    expect(closed).toBe(true)
    expect(started.length).toBeLessThanOrEqual(9)
    expect([...ended, 5].sort()).toEqual(started.sort())
  })

  test('reports a failing source', async () => {
    async function* source(): AsyncGenerator<number> {
      yield 1
      throw new Error('dry')
    }
    await expect(inParallel(source(), 2, soon)).rejects.toThrow('dry')
  })
})
