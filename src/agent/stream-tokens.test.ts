import { describe, expect, it } from 'vitest'
import { type Part, spansFrom } from '../../test/rollout/spans.ts'
import type { Span } from '../schema/index.ts'
import { Context } from './context.ts'
import { streamTokens } from './stream-tokens.ts'

let next = 0
const fresh = (count: number): number[] => Array.from({ length: count }, () => next++)
const prompt = (count: number): Part => ({ prompt: fresh(count) })
const sampled = (count: number): Part => ({ sampled: fresh(count) })
const inserted = (count: number, shorter?: { request: number; count: number }): Part => ({
  inserted: fresh(count),
  ...(shorter === undefined ? {} : { shortened: { request: shorter.request, tokens: fresh(shorter.count) } }),
})
const counted = (parts: readonly Part[]) => streamTokens(spansFrom(parts))

describe('the tokens of a rollout', () => {
  it('counts a growing stream once, and the whole context for every request', () => {
    expect(counted([prompt(3), sampled(4), inserted(2), sampled(3)])).toEqual({
      prompt: 3,
      completion: 7,
      tool: 2,
      once: 12,
      billed: 7 + 12,
      requests: 2,
    })
  })

  it('does not count tokens that were never read', () => {
    const read = [prompt(3), sampled(4), inserted(2), sampled(3)]
    expect(counted([...read, inserted(400)])).toEqual(counted(read))
    expect(counted([prompt(3)])).toMatchObject({ once: 0, billed: 0, requests: 0 })
  })

  it('counts a shortened observation as the model saw it, and what follows it again', () => {
    const parts = [
      prompt(100),
      sampled(20),
      inserted(300, { request: 2, count: 30 }),
      sampled(20),
      inserted(50),
      sampled(10),
      inserted(200),
    ]
    const requests = [100, 100 + 20 + 300, 100 + 20 + 30 + 20 + 50]
    expect(counted(parts)).toEqual({
      // The shortened observation and the 20 tokens after it had to be read again.
      prompt: 100 + 30 + 20,
      completion: 50,
      tool: 300 + 50,
      once: 100 + 20 + 300 + 20 + 30 + 20 + 50 + 10,
      billed: requests.reduce((sum, length) => sum + length, 0) + 50,
      requests: 3,
    })
  })

  it('counts only the short form of an observation that was shortened before it was read', () => {
    const parts = [prompt(10), sampled(5), inserted(90, { request: 1, count: 9 }), sampled(5)]
    expect(counted(parts)).toEqual({
      prompt: 10,
      completion: 10,
      tool: 9,
      once: 29,
      billed: 10 + 5 + (10 + 5 + 9) + 5,
      requests: 2,
    })
  })

  it('bills exactly the contexts that a stream was sampled from', () => {
    const context = new Context(fresh(40))
    let billed = 0
    for (const [request, step] of [60, 50, 40].entries()) {
      billed += context.length + 7
      const tokens = Int32Array.from(fresh(7))
      const logprobs = new Float32Array(7)
      context.addSampled(request, { tokens, logprobs, modelLogprobs: logprobs }, 7, true)
      context.addObservation(request, fresh(step))
      if (context.length > 120) context.shortenOldest(request + 1, () => fresh(5))
    }
    const spans: Span[] = context.parts.map((part) => ({
      agent: '',
      kind: 'call' in part.origin ? 'observation' : 'role',
      text: '',
      ...part,
    }))
    const counted = streamTokens({ promptTokens: context.prompt, spans })
    expect(counted.billed).toBe(billed)
    expect(counted.once).toBe(counted.prompt + counted.completion + counted.tool)
    expect(counted.once).toBeLessThanOrEqual(counted.billed)
  })
})
