import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Engine, verifyCheckpoint } from '../../src/engine/index.ts'
import type { Tokenizer } from '../../src/language/tokens/index.ts'
import { type SftContext, run as sft, sftCurve } from '../../src/stages/sft/index.ts'
import type { Run } from '../../src/store/index.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import {
  configOf,
  engineOf,
  openStudent,
  runIn,
  settings,
  sftContext,
  sumSequence,
  sums,
  tinyModel,
} from './support.ts'

let folder: string
let student: { engine: Engine; tokenizer: Tokenizer }
let run: Run

beforeEach(async () => {
  folder = temporaryFolder()
  student = await openStudent(await tinyModel(folder))
  run = runIn(folder)
})

afterEach(async () => {
  run.close()
  await student.engine.close()
})

const contextOf = (changes: Partial<SftContext> = {}): SftContext => sftContext({ run, student, ...changes })

const log = (): string => readFileSync(run.files.log, 'utf8')

describe('training', () => {
  it('reduces the loss, evaluates on held-out tasks, and keeps the best checkpoint', async () => {
    const told: string[] = []
    const summary = await sft(
      configOf(settings),
      contextOf({ observe: ({ unit, done, total }) => told.push(`${done}/${total} ${unit}`) }),
    )
    const rows = sftCurve(run.metrics())
    expect(rows.map(({ step }) => step)).toEqual(Array.from({ length: summary.steps }, (_, at) => at + 1))
    expect(rows.at(-1)!.loss).toBeLessThan(0.6 * rows[0]!.loss)
    for (const { tokens, trainedTokens, tokensPerSecond } of rows) {
      expect(trainedTokens).toBeLessThan(tokens)
      expect(tokensPerSecond).toBeGreaterThan(0)
      expect(Math.abs(tokens - 700)).toBeLessThan(250)
    }
    const measured = rows.filter(({ evalLoss }) => evalLoss !== undefined)
    expect(measured.map(({ step }) => step)).toEqual(
      rows.map(({ step }) => step).filter((step) => step % 4 === 0 || step === rows.length),
    )
    const best = measured.reduce((one, other) => (other.evalLoss! < one.evalLoss! ? other : one))
    expect(summary).toMatchObject({ sequences: 40, 'left out': 0, 'best step': best.step })
    expect(summary['trained on'] + summary['held out']).toBe(40)
    expect(summary['held out']).toBe(8)
    expect(told.at(-1)).toMatch(
      new RegExp(`^${rows.length}/${rows.length} steps, loss \\d\\.\\d{3}, held out`),
    )
    for (const [id, step] of [
      ['sft', best.step],
      ['sft-last', rows.length],
    ] as const) {
      const manifest = verifyCheckpoint(join(run.files.checkpoints, id))
      expect(manifest).toMatchObject({ stage: 'sft', step })
      const record = run.get('checkpoint', id)
      expect(record).toMatchObject({ path: join('checkpoints', id), step, files: manifest.files })
      expect(record!.metrics['loss']).toBe(rows[step - 1]!.loss)
    }
  })

  it('does nothing when it is already complete', async () => {
    const first = await sft(configOf(settings), contextOf())
    const rows = [...run.metrics()].length
    expect(await sft(configOf(settings), contextOf())).toEqual(first)
    expect([...run.metrics()].length).toBe(rows)
  })

  it('keeps the most accurate checkpoint if asked to, and continues when rollouts fail', async () => {
    const accuracies = new Map([
      [2, 0.5],
      [4, 0.75],
      [6, 0.25],
    ])
    const config = configOf({ ...settings, max_steps: 8, eval_every: 2, keep: 'accuracy' })
    const summary = await sft(
      config,
      contextOf({
        evaluate: async (step) => {
          if (step === 8) throw new Error('no tools today')
          return { accuracy: accuracies.get(step)!, wellFormed: 1, count: 4 }
        },
      }),
    )
    expect(summary).toMatchObject({
      'best step': 4,
      'best accuracy': 0.75,
      'failed evaluations': 1,
      steps: 8,
    })
    expect(sftCurve(run.metrics())[3]).toMatchObject({ accuracy: 0.75, wellFormed: 1, rollouts: 4 })
    expect(log()).toContain('step 8 could not be evaluated: no tools today')
  })

  it('holds out nothing if there are few tasks, keeps the last checkpoint and says so', async () => {
    const few = contextOf({ data: () => sums(20) })
    const summary = await sft(configOf({ ...settings, max_steps: 5 }), few)
    expect(summary).toMatchObject({ 'best step': 5, 'held out': 0, 'trained on': 20 })
    expect(log()).toContain('too few tasks to hold any out')
  })

  it('keeps the last checkpoint without an evaluation', async () => {
    const summary = await sft(configOf({ ...settings, eval_share: 0, max_steps: 3 }), contextOf())
    expect(summary).toMatchObject({ 'best step': 3, 'held out': 0, 'trained on': 40 })
  })
})

describe('unusable input', () => {
  it('is left out, counted and named, and the rest is trained on', async () => {
    const bad = [
      { sequence: sumSequence(90, { id: 'mute', spans: [sumSequence(90).spans[2]!] }), weight: 1 },
      { sequence: sumSequence(91, { id: 'weightless' }), weight: 0 },
      { sequence: { ...sumSequence(92), id: 'broken', spans: [{ kind: 'role' }] as never }, weight: 1 },
      {
        sequence: sumSequence(93, { id: 'long', prompt: [{ role: 'user', content: 'x'.repeat(300) }] }),
        weight: 1,
      },
    ]
    const data = () => [...sums(10), ...bad]
    const summary = await sft(configOf({ ...settings, max_steps: 2 }), contextOf({ data }))
    expect(summary).toMatchObject({
      sequences: 14,
      'left out': 4,
      'left out: no tokens to train on': 1,
      'left out: longer than 256 tokens': 1,
      'left out: a weight of 0': 1,
    })
    expect(log()).toContain('longer than 256 tokens (long)')
  })

  it.each([
    ['no sequences', {}, { data: () => [] }, 'there are no sequences to train on'],
    [
      'none that fits',
      { context: { '0': 40 } },
      {},
      /none of the 40 sequences can be trained on: 40 × longer than 40/,
    ],
    [
      'a first context that is too small',
      { context: { '0': 40, '0.5': 200 } },
      {},
      /fits into 40 tokens: the shortest/,
    ],
    ['no ReAct-style ones', { react_share: 0.2 }, {}, 'no ReAct-style sequences'],
    ['nothing to measure accuracy', { keep: 'accuracy' }, {}, 'accuracy is not measured'],
    [
      'a context the model cannot see',
      { context: { '0': 9000 } },
      {},
      "9000 tokens exceed the model's context of 256",
    ],
  ])('is refused with one sentence and a fix: %s', async (_, changes, given, message) => {
    const failed = sft(configOf({ ...settings, ...changes }), contextOf(given))
    await expect(failed).rejects.toMatchObject({ fix: expect.stringMatching(/^[A-Z].*\.$/) })
    await expect(failed).rejects.toThrow(message)
  })

  it('is an engine that only samples', async () => {
    const { engine, tokenizer } = student
    const missing = { train: 'it is a server for sampling' }
    const sampler = { ...engineOf(engine), describe: () => ({ ...engine.describe(), missing }) }
    const failed = sft(configOf(settings), contextOf({ student: { engine: sampler, tokenizer } }))
    await expect(failed).rejects.toThrow('the embedded engine cannot train: it is a server for sampling')
  })
})
