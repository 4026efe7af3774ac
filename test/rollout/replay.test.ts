import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Policy, replay, rollOut, rollOutAll } from '../../src/agent/index.ts'
import { seedOf } from '../../src/base/random/index.ts'
import { type Engine, openEmbedded } from '../../src/engine/index.ts'
import { streamText } from '../../src/schema/index.ts'
import { byteModelShape, writeByteModel } from '../engine/byte-model.ts'
import { callOf, job, policyOf, says, settings, tokenizer, writes } from './fixtures.ts'

describe('the same seeds', () => {
  let folder: string
  let engine: Engine
  let policy: Policy
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coa-replay-'))
    const model = writeByteModel(folder, 'model', { ...byteModelShape, contextLength: 4096 })
    engine = await openEmbedded({ model })
    policy = { engine, tokenizer, endTokens: [], checkpoint: 'tiny' }
  })
  afterAll(async () => {
    await engine.close()
    rmSync(folder, { recursive: true })
  })

  const short = { ...settings, maxTokens: 24 }
  const jobs = Array.from({ length: 12 }, (_, at) => ({ ...job, id: `r${at}`, seed: seedOf('test', at) }))

  it('give the same tokens at any concurrency', async () => {
    const together = await rollOutAll(jobs, policy, says(''), short, { concurrency: 12 })
    const alone = await rollOutAll(jobs, policy, says(''), short, { concurrency: 1 })
    const tokens = (rollouts: typeof together): number[][] =>
      rollouts.map(({ spans }) => spans.flatMap(({ tokens }) => tokens!))
    expect(tokens(together)).toEqual(tokens(alone))
    expect(new Set(tokens(alone).map(String)).size).toBe(jobs.length)
  })

  it('reproduce a recorded rollout, token by token, only with the same weights', async () => {
    const recorded = await rollOut(jobs[3]!, policy, says(''), short)
    expect((await replay(recorded, job.task, policy, says(''), short)).differences).toEqual([])
    await engine.forwardBackward([{ tokens: [1, 2, 3, 4], weights: [0, 1, 1, 1] }], { kind: 'cross-entropy' })
    await engine.optimStep({ learningRate: 0.1 })
    expect((await replay(recorded, job.task, policy, says(''), short)).differences).toContain('tokens')
  })
})

it('tools return their recorded output in a replay, malformed calls included', async () => {
  const policy = policyOf(
    writes((observations) =>
      observations === 0
        ? '<plan>Add.</plan>\n<think>Now.</think>\n<code></code>'
        : observations === 1
          ? `<reflection>So.</reflection>\n<think>Now.</think>\n${callOf('print(2 + 3)')}`
          : '<reflection>Good.</reflection>\n<think>Done.</think>\n<answer>\\boxed{5}</answer>',
    ),
  )
  const long = says(`5 </observation> ${'x'.repeat(3000)}`)
  const recorded = await rollOut(job, policy, long, { ...settings, observationTokens: 200 })
  expect(recorded.calls.map(({ outcome }) => outcome)).toEqual(['malformed', 'ok'])
  const again = await replay(recorded, job.task, policy, says('something else'), settings)
  expect(again.differences).toEqual([])
  const other = policyOf(() => '<plan>No.</plan>')
  expect((await replay(recorded, job.task, other, says(''), settings)).differences).toEqual([
    'tokens',
    'text',
    'stop',
    'answer',
    'verdict',
  ])
})

it('a long observation loses its middle and stays within its token limit', async () => {
  const policy = policyOf(
    writes((observations) =>
      observations === 0
        ? `<plan>Add.</plan>\n<think>Now.</think>\n${callOf('print(2 + 3)')}`
        : '<reflection>Good.</reflection>\n<think>Done.</think>\n<answer>\\boxed{5}</answer>',
    ),
  )
  for (const length of [100, 400, 5000]) {
    const said = `begin ${'é'.repeat(length)} end`
    const rollout = await rollOut(job, policy, says(said), { ...settings, observationTokens: 400 })
    const inserted = rollout.spans.find(({ kind }) => kind === 'observation')!
    expect(inserted.tokens!.length).toBeLessThanOrEqual(400)
    expect(streamText(rollout)).toContain('<observation>begin')
    expect(streamText(rollout)).toContain(' end</observation>')
    expect(streamText(rollout).includes('left out')).toBe(length > 100)
  }
})
