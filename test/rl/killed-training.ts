/** A separate program: trains a small bandit in a run folder, and kills itself with SIGKILL at a given point. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Engine, openEmbedded } from '../../src/engine/index.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { run as train } from '../../src/stages/rl/index.ts'
import { createRun, openRun } from '../../src/store/index.ts'
import { arms, banditShape, pull } from './bandit.ts'

const [folder, overlap, phase, at] = process.argv.slice(2) as [string, string, string, string]
const die = (): never => {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('still alive')
}
/** Kills the process at the `at`-th occurrence. */
const seen = new Map<string, number>()
const maybeDie = (name: string): void => {
  seen.set(name, (seen.get(name) ?? 0) + 1)
  if (name === phase && seen.get(name) === Number(at)) die()
}

const engine = await openEmbedded({ model: { shape: banditShape, seed: 3 }, threads: 1 })
const watched: Engine = {
  describe: () => engine.describe(),
  sample: (request) => engine.sample(request),
  forward: (...given) => engine.forward(...given),
  forwardBackward: async (examples, loss, signal) => {
    maybeDie('pass')
    return engine.forwardBackward(examples, loss, signal)
  },
  optimStep: async (settings) => {
    const result = await engine.optimStep(settings)
    maybeDie('update')
    return result
  },
  save: async (target, ...given) => {
    if (phase === 'saving') setImmediate(() => maybeDie('saving'))
    await engine.save(target, ...given)
    maybeDie('saved')
  },
  load: (...given) => engine.load(...given),
  close: () => engine.close(),
}

const run = existsSync(join(folder, 'manifest.json'))
  ? openRun(folder, { write: true })
  : createRun(dirname(folder), { id: 'r', command: 'test', coa: '0' })
const config = ProjectConfig.parse({
  project: { seed: 7 },
  // One at a time: the batch size changes the last bits of the results.
  rollout: { concurrency: 1 },
  rl: {
    steps: 6,
    groups: 2,
    group_size: 6,
    mini_batches: 2,
    learning_rate: 0.01,
    partial: true,
    variance_of: 'reward',
    warmup_steps: 3,
    curriculum: true,
    balance: true,
    eval_every: 3,
    save_every: 2,
    save_seconds: 1e6,
    overlap: Number(overlap),
  },
})
const accuracies = [0.1, 0.3, 0.2]
await train(config, {
  run,
  signal: new AbortController().signal,
  observe: () => undefined,
  student: { engine: watched },
  tasks: arms(4).map((task, number) => ({ ...task, suite: number === 0 ? 'one' : 'three' })),
  rollOut: (job, checkpoint, { stepOf }) => {
    maybeDie('sampling')
    return pull(job, checkpoint, { engine: watched, turns: 2, stepOf })
  },
  evaluate: async (step) => ({ accuracy: accuracies[step / 3]!, wellFormed: 1, count: 4 }),
})
run.close()
await engine.close()
