import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTinker, verifyCheckpoint } from '../../../src/engine/index.ts'
import { holdAnswer } from './holding-proxy.ts'
import { learn } from './lesson.ts'
import { startTestTrainer, type TestTrainer } from './test-trainer.ts'
import { trainerPython } from './trainer-python.ts'

const python = await trainerPython()
const program = fileURLToPath(new URL('./lost-client.ts', import.meta.url))

describe.skipIf(python === undefined)('failures', () => {
  let trainer: TestTrainer
  beforeAll(async () => {
    trainer = await startTestTrainer(python!, { key: 'tml-right' })
  })
  afterAll(() => trainer?.stop())

  it('a wrong or missing key is rejected immediately', async () => {
    for (const key of ['tml-wrong', undefined])
      await expect(openTinker({ url: trainer.url, ...(key === undefined ? {} : { key }) })).rejects.toThrow(
        /the API key is missing or invalid/,
      )
    const engine = await openTinker({ url: trainer.url, key: 'tml-right' })
    expect(engine.describe()).toMatchObject({ driver: 'tinker', device: 'cpu, float32' })
    await engine.close()
  })

  it('an unknown model is reported with the available ones', async () => {
    const opening = openTinker({ url: trainer.url, key: 'tml-right', baseModel: 'other' })
    await expect(opening).rejects.toMatchObject({
      message: expect.stringContaining('has no model other'),
      fix: 'It has: model.',
    })
  })

  it('a closed engine says so, and its model is removed from the server', async () => {
    const engine = await openTinker({ url: trainer.url, key: 'tml-right' })
    await engine.close()
    await engine.close()
    await expect(engine.forward([])).rejects.toThrow(/is closed/)
    const response = await fetch(`${trainer.url}/api/v1/coa/status`, {
      headers: { 'x-api-key': 'tml-right' },
    })
    expect(((await response.json()) as { models: unknown[] }).models).toEqual([])
  })

  it('killing the trainer during a step gives a clear error, soon', async () => {
    const own = await startTestTrainer(python!)
    try {
      const engine = await openTinker({ url: own.url, tokenizer: own.model, patienceMs: 1_000 })
      await learn(engine, 0, 1)
      const saved = join(own.folder, 'saved')
      await engine.save(saved, { stage: 'sft', step: 1, createdAt: '2026-01-01T00:00:00Z' })
      const tokens = Array.from({ length: 160 }, (_, at) => at % 200)
      const examples = Array.from({ length: 400 }, () => ({ tokens, weights: tokens.map(() => 1) }))
      const waiting = engine.forwardBackward(examples, { kind: 'cross-entropy' })
      const sampling = engine.sample({ prompt: [1], maxTokens: 150, count: 64, onToken: () => undefined })
      setTimeout(() => process.kill(own.pid, 'SIGKILL'), 300)
      const began = performance.now()
      const gone = /cannot be reached|disconnected/
      const [pass, samples] = await Promise.allSettled([waiting, sampling])
      expect(pass).toMatchObject({ status: 'rejected', reason: { message: expect.stringMatching(gone) } })
      expect(samples).toMatchObject({ status: 'rejected', reason: { message: expect.stringMatching(gone) } })
      await expect(engine.optimStep({ learningRate: 1 })).rejects.toThrow(/cannot be reached/)
      const again = engine.save(saved, { stage: 'sft', step: 2, createdAt: '2026-01-01T00:00:00Z' })
      await expect(again).rejects.toThrow(/cannot be reached/)
      expect(verifyCheckpoint(saved).step).toBe(1)
      expect(performance.now() - began).toBeLessThan(20_000)
      await engine.close()
    } finally {
      own.stop()
    }
  })

  it('a client that was killed before it had its result resumes without a difference', async () => {
    const open = await startTestTrainer(python!)
    // The results of the passes of two steps and the step between arrive; that of the third pass does not.
    const proxy = await holdAnswer(open.url, '/forward_backward', 3)
    try {
      const whole = await openTinker({ url: open.url, tokenizer: open.model })
      const expected = await learn(whole, 0, 6)
      await whole.close()
      const state = join(open.folder, 'session.json')
      const child = spawn(process.execPath, [program, proxy.url, open.model, state], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const printed: Buffer[] = []
      child.stdout.on('data', (part: Buffer) => printed.push(part))
      await proxy.held
      child.kill('SIGKILL')
      await new Promise((resolve) => child.on('close', resolve))
      const lines = Buffer.concat(printed).toString().trim().split('\n')
      const losses = lines.map((line) => (JSON.parse(line) as { loss: number }).loss)
      expect(losses.length).toBe(2)
      // Two passes and two steps were completed.
      expect(JSON.parse(readFileSync(state, 'utf8'))).toMatchObject({ nextSeq: 5 })
      const back = await openTinker({ url: open.url, tokenizer: open.model, state })
      losses.push(...(await learn(back, 2, 6)))
      for (const [step, loss] of expected.entries()) expect(losses[step]).toBeCloseTo(loss, 5)
      await back.close()
      expect(existsSync(state)).toBe(false)
    } finally {
      await proxy.close()
      open.stop()
    }
  })

  it('a client that resumes with another request gets an error', async () => {
    const state = join(trainer.folder, 'other.json')
    const options = { url: trainer.url, key: 'tml-right', state }
    const first = await openTinker(options)
    const tokens = [1, 2, 3]
    await first.forwardBackward([{ tokens, weights: [0, 1, 1] }], { kind: 'cross-entropy' })
    const saved = JSON.parse(readFileSync(state, 'utf8')) as { nextSeq: number }
    expect(saved.nextSeq).toBe(2)
    // As if the result had not been received.
    writeFileSync(state, JSON.stringify({ ...saved, nextSeq: 1 }))
    const second = await openTinker(options)
    await expect(
      second.forwardBackward([{ tokens, weights: [0, 1, 0] }], { kind: 'cross-entropy' }),
    ).rejects.toMatchObject({ details: { status: 409 } })
    await second.close()
  })
})
