import { expect, test } from 'vitest'
import { backOff, pause, retryAfterMs } from './index.ts'

const asked = (headers: Record<string, string>): number | undefined => retryAfterMs((name) => headers[name])

test('reads all three forms of retry-after', () => {
  expect(asked({})).toBeUndefined()
  expect(asked({ 'retry-after': '2.5' })).toBe(2500)
  expect(asked({ 'retry-after': '2', 'retry-after-ms': '30' })).toBe(30)
  expect(asked({ 'retry-after': 'soon' })).toBeUndefined()
  expect(asked({ 'retry-after': 'Tue, 01 Jan 2002 00:00:00 GMT' })).toBe(0)
  const inAnHour = asked({ 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() })!
  expect(inAnHour).toBeGreaterThan(3_000_000)
  expect(inAnHour).toBeLessThanOrEqual(3_600_000)
})

test('delays double up to the maximum, with 25% jitter', () => {
  for (const [attempt, middle] of [1000, 2000, 4000, 5000, 5000].entries()) {
    const ms = backOff(attempt, 1000, 5000)
    expect(Math.abs(ms - middle)).toBeLessThanOrEqual(middle / 4)
  }
})

test('an aborted pause rejects with the reason of the signal', async () => {
  const controller = new AbortController()
  const waiting = pause(600_000, controller.signal)
  controller.abort('enough')
  await expect(waiting).rejects.toBe('enough')
  await expect(pause(600_000, controller.signal)).rejects.toBe('enough')
  await pause(0)
})
