import { expect, it, onTestFinished } from 'vitest'
import { type Engine, openEmbedded } from '../../src/engine/index.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { stepRows } from '../../src/stages/rl/diagnose.ts'
import { type RlContext, run as train } from '../../src/stages/rl/index.ts'
import { arms, banditShape, pull } from './bandit.ts'
import { bandit, base, chances } from './train-bandit.ts'

it('does not change the weights if all rewards are equal', async () => {
  const { engine, train: go } = await bandit(
    { ...base, steps: 3, algorithm: 'grpo' },
    {
      rollOut: async (job, checkpoint) => ({
        ...(await pull(job, checkpoint, { engine })),
        verdict: { outcome: 'wrong', checker: 'none', evidence: '' },
      }),
    },
  )
  const before = await chances(engine)
  await go()
  expect(await chances(engine)).toEqual(before)
})

it('says what to change if no group has variance', async () => {
  const { engine, train: go } = await bandit(
    { ...base, max_gen_batches: 3 },
    {
      rollOut: async (job, checkpoint) => ({
        ...(await pull(job, checkpoint, { engine })),
        verdict: { outcome: 'wrong', checker: 'none', evidence: '' },
      }),
    },
  )
  await expect(go()).rejects.toMatchObject({
    message: expect.stringContaining(
      'step 1 cannot be filled: it has 0 of the 4 groups it needs; of 12 sampled, 12 all wrong',
    ),
    fix: expect.stringContaining('too hard'),
  })
})

it('excludes and counts environment failures', async () => {
  const {
    engine,
    run,
    train: go,
  } = await bandit(
    { ...base, steps: 2, partial: true },
    {
      rollOut: async (job, checkpoint) => {
        const rollout = await pull(job, checkpoint, { engine })
        const number = Number(job.id.split('-').at(-1))
        if (number < 3) return { ...rollout, failure: { boundary: 'tool', message: 'gone' } }
        return number < 5
          ? { ...rollout, verdict: { outcome: 'undecided', checker: 'judge', evidence: '' } }
          : rollout
      },
    },
  )
  await go()
  const [row] = stepRows(run.metrics())
  expect(row).toMatchObject({
    rollouts: 128,
    left_out: 20,
    'left_out/environment': 12,
    'left_out/undecided': 8,
    groups_kept: 4,
    tokens_trained: 4 * 27,
    'stop/answer': 1,
  })
})

it('stops when everything is solved, with the weights saved', async () => {
  const {
    engine,
    run,
    train: go,
  } = await bandit(
    { ...base, partial: false, max_gen_batches: 2 },
    {
      rollOut: async (job, checkpoint) => ({
        ...(await pull(job, checkpoint, { engine })),
        // From the third step on everything is correct.
        verdict: {
          outcome: checkpoint === 'rl@2' || job.seed % 2 === 0 ? 'correct' : 'wrong',
          checker: 'none',
          evidence: '',
        },
      }),
    },
  )
  const { figures, checkpoint, ended } = await go()
  // Two steps of 128 rollouts, and twice as many for the step that was not taken.
  expect(figures).toMatchObject({ steps: 2, 'pass rate at last': 1, rollouts: 2 * 128 + 256 })
  expect(ended).toMatch(
    /^Training stops before step 3: 100% of the rollouts are correct.*of 8 sampled, 8 all right/,
  )
  expect(run.get('checkpoint', 'rl')).toMatchObject({ step: 2 })
  const left = await chances(engine)
  await engine.load(checkpoint)
  expect(await chances(engine)).toEqual(left)
})

it('reports the pass rate if everything is solved from the start', async () => {
  const { engine, train: go } = await bandit(
    { ...base, max_gen_batches: 1 },
    {
      rollOut: async (job, checkpoint) => ({
        ...(await pull(job, checkpoint, { engine })),
        verdict: { outcome: 'correct', checker: 'none', evidence: '' },
      }),
    },
  )
  const { figures, ended } = await go()
  expect(figures).toEqual({ steps: 0, rollouts: 128, 'pass rate at first': 1, 'pass rate at last': 1 })
  expect(ended).toContain('100% of the rollouts are correct')
})

it('takes no step with fewer groups than configured, unless allowed', async () => {
  // One of the four tasks has variance, and a step samples at most eight groups.
  const part = { ...base, steps: 1, partial: true, max_gen_batches: 2, variance_of: 'correct', groups: 3 }
  const rollOut =
    (engine: Engine): RlContext['rollOut'] =>
    async (job, checkpoint) => ({
      ...(await pull(job, checkpoint, { engine })),
      verdict: {
        outcome: job.task.id === 'arm-1' && job.seed % 2 === 0 ? 'correct' : 'wrong',
        checker: 'none',
        evidence: '',
      },
    })
  const full = await bandit(part)
  const before = await chances(full.engine)
  const failing = train(ProjectConfig.parse({ rl: part }), {
    run: full.run,
    signal: new AbortController().signal,
    observe: () => undefined,
    student: { engine: full.engine },
    tasks: arms(4),
    rollOut: rollOut(full.engine),
  })
  await expect(failing).rejects.toThrow(/cannot be filled: it has [12] of the 3 groups/)
  expect(await chances(full.engine)).toEqual(before)
  const some = await bandit({ ...part, partial_steps: true })
  await train(ProjectConfig.parse({ rl: { ...part, partial_steps: true } }), {
    run: some.run,
    signal: new AbortController().signal,
    observe: () => undefined,
    student: { engine: some.engine },
    tasks: arms(4),
    rollOut: rollOut(some.engine),
  })
  expect(Number(stepRows(some.run.metrics())[0]!['groups_kept'])).toBeLessThan(3)
  expect(await chances(some.engine)).not.toEqual(before)
})

it('stays close to the initial model with rl.kl', async () => {
  const reference = await openEmbedded({ model: { shape: banditShape, seed: 5 }, threads: 1 })
  onTestFinished(() => reference.close())
  const settings = { ...base, algorithm: 'grpo', steps: 30, kl: 1, max_norm: 0 }
  const { engine, run, train: go } = await bandit(settings, {})
  const pulled = await bandit(settings, {
    student: { engine, reference },
    rollOut: async (job, checkpoint) => ({
      ...(await pull(job, checkpoint, { engine })),
      verdict: { outcome: 'wrong', checker: 'none', evidence: '' },
    }),
  })
  await expect(go()).rejects.toThrow('rl.kl needs the model')
  expect([...run.metrics()]).toEqual([])
  await pulled.train()
  const distances = stepRows(pulled.run.metrics()).map((row) => Number(row['kl']))
  expect(distances[0]).toBeGreaterThan(0.05)
  expect(distances.at(-1)).toBeLessThan(0.1 * distances[0]!)
  const [ours, theirs] = [await chances(engine), await chances(reference)]
  for (const [index, chance] of ours.entries())
    expect(Math.abs(Math.log(chance / theirs[index]!))).toBeLessThan(0.3)
})

it('continues rollouts while the weights change, at most the given number of steps behind', async () => {
  // Few enough that some groups still differ in every step, whatever the order in which rollouts end.
  const settings = { ...base, steps: 24, partial: true, overlap: 2, save_every: 4, save_seconds: 1e6 }
  const { engine, run, train: go } = await bandit(settings)
  await go()
  const rows = stepRows(run.metrics())
  expect(rows.length).toBe(24)
  const behind = rows.map((row) => Number(row['staleness_max']))
  expect(Math.max(...behind)).toBe(2)
  expect(behind[0]).toBe(0)
  for (const row of rows) expect(row).toMatchObject({ groups_kept: 4, groups_left_over: 0 })
  let older = 0
  for (const { meta, spans } of run.scan('rollout')) {
    const [policy] = spans[0]!.policies!
    expect(policy!.step).toBe(meta['policyStep'])
    expect(Number(meta['step']) - 1 - policy!.step).toBeLessThanOrEqual(2)
    if (policy!.step < Number(meta['step']) - 1) older++
  }
  expect(older).toBeGreaterThan(1000)
  for (const chance of await chances(engine)) expect(chance).toBeGreaterThan(0.7)
})

it('saves at time intervals', async () => {
  const steps: number[] = []
  const { engine, run } = await bandit(base)
  const watched: Engine = {
    describe: () => engine.describe(),
    sample: (request) => engine.sample(request),
    forward: (...given) => engine.forward(...given),
    forwardBackward: (...given) => engine.forwardBackward(...given),
    optimStep: (given) => engine.optimStep(given),
    save: async (folder, note) => {
      steps.push(note.step)
      await engine.save(folder, note)
    },
    load: (...given) => engine.load(...given),
    close: () => engine.close(),
  }
  const config = { ...base, steps: 8, partial: true, save_seconds: 0.001 }
  await train(ProjectConfig.parse({ rl: config }), {
    run,
    signal: new AbortController().signal,
    observe: () => undefined,
    student: { engine: watched },
    tasks: arms(4),
    rollOut: (job, checkpoint) => pull(job, checkpoint, { engine }),
    again: true,
  })
  expect(steps[0]).toBe(1)
})

it('continues with more steps, refuses another model, and restarts if asked to', async () => {
  const settings = { ...base, steps: 2, partial: true }
  const first = await bandit(settings, { student: undefined! })
  const { engine, run } = first
  const go = (steps: number, fingerprint: string, again = false) =>
    train(ProjectConfig.parse({ rl: { ...settings, steps } }), {
      run,
      signal: new AbortController().signal,
      observe: () => undefined,
      student: { engine, parent: { fingerprint } },
      tasks: arms(4),
      rollOut: (job, checkpoint) => pull(job, checkpoint, { engine }),
      again,
    })
  const one = 'a'.repeat(64)
  await go(2, one)
  expect((await go(3, one)).figures['steps']).toBe(3)
  expect(stepRows(run.metrics()).map(({ step }) => step)).toEqual([1, 2, 3])
  await expect(go(4, 'b'.repeat(64))).rejects.toThrow('trained to step 3 from another model')
  expect((await go(1, 'b'.repeat(64), true)).figures['steps']).toBe(1)
  expect(run.get('checkpoint', 'rl')).toMatchObject({ step: 1 })
  expect(stepRows(run.metrics()).map(({ step }) => step)).toEqual([1])
})

it('stores tokens of the configured number of groups, and metrics of all', async () => {
  const { run, train: go } = await bandit({ ...base, steps: 1, partial: true, keep_rollouts: 1 })
  await go()
  expect(run.count('rollout')).toBe(128)
  const whole = run.get('rollout', 'rl-1-0-5')!
  expect(whole.promptTokens).toBeDefined()
  expect(whole.spans.map(({ tokens }) => tokens?.length)).toEqual([1])
  expect(whole.reward).toBe(whole.verdict!.outcome === 'correct' ? 1 : whole.verdict!.score)
  const bare = run.get('rollout', 'rl-1-1-5')!
  expect(bare.meta['tokensLeftOut']).toBe(true)
  expect([bare.promptTokens, bare.spans[0]!.tokens, bare.spans[0]!.logprobs]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

it('refuses an engine that cannot train', async () => {
  const { engine, run } = await bandit(base)
  const silent = {
    ...engine,
    describe: () => ({ ...engine.describe(), missing: { train: 'it only samples' } }),
  }
  const context = {
    run,
    signal: new AbortController().signal,
    observe: () => undefined,
    student: { engine: silent as Engine },
    tasks: arms(1),
    rollOut: () => Promise.reject(new Error('not reached')),
  }
  await expect(train(ProjectConfig.parse({}), context)).rejects.toThrow('it only samples')
})
