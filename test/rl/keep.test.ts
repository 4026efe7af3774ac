import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { stepRows } from '../../src/stages/rl/diagnose.ts'
import { run as train } from '../../src/stages/rl/index.ts'
import { arms, pull } from './bandit.ts'
import { bandit, base, chances } from './train-bandit.ts'

it.each([{}, { keep: 'best' }])(
  'evaluates, keeps the best weights and removes the others: %j',
  async (keep) => {
    const accuracies = [0.3, 0.8, 0.5]
    const {
      engine,
      run,
      train: go,
    } = await bandit(
      { ...base, steps: 6, partial: true, eval_every: 3, save_every: 2, ...keep },
      {
        evaluate: async (step) => ({ accuracy: accuracies[step / 3]!, wellFormed: 1, count: 10 }),
      },
    )
    const { checkpoint, figures } = await go()
    expect(checkpoint).toBe(join(run.dir, 'checkpoints', 'rl'))
    expect(run.get('checkpoint', 'rl')).toMatchObject({ step: 3, metrics: { eval_accuracy: 0.8 } })
    expect(figures).toMatchObject({
      steps: 6,
      accuracy: 0.5,
      'best accuracy': 0.8,
      'kept step': 3,
      rollouts: 6 * 128,
    })
    expect(readdirSync(run.files.checkpoints).sort()).toEqual([
      'rl',
      'rl-000003',
      'rl-000006',
      'rl-state.json',
    ])
    expect(run.get('checkpoint', 'rl-best')).toMatchObject({ step: 3, path: 'checkpoints/rl-000003' })
    expect(run.get('checkpoint', 'rl-last')).toMatchObject({ step: 6, path: 'checkpoints/rl-000006' })
    // The engine has the kept weights.
    const kept = await chances(engine)
    await engine.load(join(run.dir, 'checkpoints', 'rl-000003'))
    expect(await chances(engine)).toEqual(kept)
    const rows = [...run.metrics()]
    expect(rows.map(({ step, eval_accuracy }) => [step, eval_accuracy])).toEqual([
      [0, 0.3],
      [1, undefined],
      [2, undefined],
      [3, 0.8],
      [4, undefined],
      [5, undefined],
      [6, 0.5],
    ])
  },
)

/** Trains six steps, evaluated after every third, and returns the step whose weights are the result. */
async function keptOf(accuracies: readonly number[], rl: object = {}): Promise<number | undefined> {
  const { run, train: go } = await bandit(
    { ...base, steps: 6, partial: true, eval_every: 3, ...rl },
    { evaluate: async (step) => ({ accuracy: accuracies[step / 3]!, wellFormed: 1, count: 10 }) },
  )
  const { figures } = await go()
  const kept = run.get('checkpoint', 'rl')?.step
  expect(figures['kept step']).toBe('keep' in rl || 'eval_every' in rl ? undefined : kept)
  return kept
}

it('keeps the earliest of equally accurate weights, and the last ones if asked to', async () => {
  expect(await keptOf([0.3, 0.8, 0.8])).toBe(3)
  expect(await keptOf([0.5, 0.5, 0.5])).toBe(0)
  expect(await keptOf([0.3, 0.4, 0.5])).toBe(6)
  expect(await keptOf([0.3, 0.8, 0.5], { keep: 'last' })).toBe(6)
  expect(await keptOf([], { eval_every: 0 })).toBe(6)
})

it('keeps the last weights if there is nothing to evaluate, and refuses to look for the best', async () => {
  const settings = { ...base, steps: 1, partial: true, eval_every: 3 }
  const { run, train: go } = await bandit(settings)
  await go()
  expect(run.get('checkpoint', 'rl')).toMatchObject({ step: 1 })
  const best = await bandit({ ...settings, keep: 'best' })
  await expect(best.train()).rejects.toThrow('rl.keep is "best", but nothing is evaluated')
  const never = await bandit(
    { ...settings, eval_every: 0, keep: 'best' },
    { evaluate: async () => ({ accuracy: 1, wellFormed: 1, count: 1 }) },
  )
  await expect(never.train()).rejects.toThrow('rl.keep is "best", but nothing is evaluated')
})

it('evaluates the last weights if training stops early, so that they can be the best', async () => {
  const measured: number[] = []
  const {
    engine,
    run,
    train: go,
  } = await bandit(
    { ...base, max_gen_batches: 2, eval_every: 10, variance_of: 'correct' },
    {
      evaluate: async (step) => {
        measured.push(step)
        return { accuracy: step === 0 ? 0.2 : 0.9, wellFormed: 1, count: 10 }
      },
      rollOut: async (job, checkpoint) => ({
        ...(await pull(job, checkpoint, { engine })),
        verdict: {
          outcome: checkpoint === 'rl@2' || job.seed % 2 === 0 ? 'correct' : 'wrong',
          checker: 'none',
          evidence: '',
        },
      }),
    },
  )
  expect((await go()).figures).toMatchObject({ steps: 2, accuracy: 0.9, 'kept step': 2 })
  expect(run.get('checkpoint', 'rl')).toMatchObject({ step: 2, metrics: { eval_accuracy: 0.9 } })
  expect(stepRows(run.metrics()).map(({ eval_accuracy }) => eval_accuracy)).toEqual([undefined, 0.9])
  // Resumed, it has nothing more to do.
  expect((await go()).figures).toMatchObject({ steps: 2, 'kept step': 2 })
  expect(measured).toEqual([0, 2])
})

it.each([
  // Ended: it counts. Interrupted itself: that of the last step is repeated, so that its weights can be the best.
  { what: 'right after', at: 3, fails: false, accuracies: [0.3, 0.8, 0.5], kept: 3 },
  { what: 'during', at: 6, fails: true, accuracies: [0.3, 0.4, 0.5], kept: 6 },
])('does not lose an evaluation if it is interrupted $what it', async ({ at, fails, accuracies, kept }) => {
  const controller = new AbortController()
  const settings = { ...base, steps: 6, partial: true, eval_every: 3 }
  const {
    engine,
    run,
    train: go,
  } = await bandit(settings, {
    signal: controller.signal,
    evaluate: async (step) => {
      if (step === at) controller.abort()
      if (fails) controller.signal.throwIfAborted()
      return { accuracy: accuracies[step / 3]!, wellFormed: 1, count: 10 }
    },
  })
  await expect(go()).rejects.toThrow()
  expect(run.get('checkpoint', 'rl-last')).toMatchObject({ step: at })
  await train(ProjectConfig.parse({ rl: settings }), {
    run,
    signal: new AbortController().signal,
    observe: () => undefined,
    student: { engine },
    tasks: arms(4),
    rollOut: (job, checkpoint) => pull(job, checkpoint, { engine }),
    evaluate: async (step) => ({ accuracy: accuracies[step / 3]!, wellFormed: 1, count: 10 }),
  })
  expect(run.get('checkpoint', 'rl')).toMatchObject({
    step: kept,
    metrics: { eval_accuracy: accuracies[kept / 3] },
  })
})
