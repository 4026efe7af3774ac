import { describe, expect, it } from 'vitest'
import type { MetricBatch, MetricSink } from './sink.ts'
import { SinkFeed } from './sink-feed.ts'

const batchOf = (...values: number[]): MetricBatch => ({
  points: values.map((value) => ({ time: 0, step: value, name: 'rl/reward', value })),
  chains: [],
})

/** A sink that fails as often as asked, and what it got. */
function sinkThatFails(times: number) {
  const got: number[] = []
  const closed: string[] = []
  let left = times
  const sink: MetricSink = {
    async send({ points }) {
      if (left-- > 0) throw new Error('it is down')
      got.push(...points.map(({ value }) => value))
    },
    close: async (status) => void closed.push(status),
  }
  return { sink, got, closed }
}

describe('a feed', () => {
  it('keeps what a sink does not take, in order, and says so once', async () => {
    const { sink, got, closed } = sinkThatFails(2)
    const said: string[] = []
    const feed = new SinkFeed(
      async () => sink,
      (reason) => said.push(reason),
    )
    feed.push(batchOf(1, 2))
    feed.flush()
    feed.push(batchOf(3))
    await feed.close('done', 60_000)
    expect(got).toEqual([])
    feed.push(batchOf(4))
    await feed.close('done', 60_000)
    expect(got).toEqual([1, 2, 3, 4])
    expect(said).toEqual(['it is down'])
    expect(closed).toEqual(['done', 'done'])
  })

  it('never throws when the sink cannot be opened', async () => {
    const said: string[] = []
    const feed = new SinkFeed(
      () => Promise.reject(new Error('no server')),
      (reason) => said.push(reason),
    )
    for (const value of [1, 2, 3]) {
      feed.push(batchOf(value))
      feed.flush()
    }
    await feed.close('failed', 60_000)
    expect(said).toEqual(['no server'])
  })

  it('gives up on a sink that never responds', async () => {
    const said: string[] = []
    const feed = new SinkFeed(
      () => new Promise(() => {}),
      (reason) => said.push(reason),
    )
    feed.push(batchOf(1))
    feed.flush()
    await feed.close('done', 1)
    expect(said).toEqual(['it did not finish within 0.001 s'])
  })

  it('opens nothing when there is nothing to send', async () => {
    const feed = new SinkFeed(
      () => Promise.reject(new Error('opened')),
      (reason) => expect.unreachable(reason),
    )
    feed.flush()
    await feed.close('done', 60_000)
  })
})
