import type { EvalAttempt } from '../../src/schema/index.ts'
import { createRun, type Run } from '../../src/store/index.ts'
import { makeRollout, wrong } from '../rl/make-rollout.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'

/** A run folder with settings, to be trained in. */
export function emptyRun(id = 'measured'): Run {
  return createRun(temporaryFolder(), {
    id,
    command: 'coa test',
    coa: '0.1.0',
    configToml: '[rl]\nsteps = 3\n[student]\nmodel = "nano"\n',
  })
}

/** Two SFT steps, three RL steps of five rollouts, and an evaluation of two tasks. */
export function train(run: Run): void {
  for (const step of [1, 2]) run.metric({ stage: 'sft', step, loss: 2 / step })
  for (const step of [1, 2, 3]) rlStep(run, step)
  for (const number of [0, 1]) attempt(run, number)
}

export function rlStep(run: Run, step: number): void {
  for (const [number, reward] of [0.5, 0, 1, 0.25, 0.75].entries())
    run.append(
      'rollout',
      rolloutOf(`rollout ${step} ${number}`, `Question ${step}?`, { reward, meta: { step } }),
    )
  run.metric({ stage: 'rl', step, reward_mean: 0.5, 'pass_rate/suite/math': step / 4 })
}

function attempt(run: Run, number: number): void {
  const id = `attempt ${number}`
  run.append('rollout', rolloutOf(id, 'Held out?'))
  const tokens = { prompt: 1, completion: 2, tool: 3, once: 6, billed: 9 }
  const made: EvalAttempt = {
    ...{
      v: 1,
      id,
      solver: 'base, asked once',
      kind: 'model',
      how: 'h',
      tokenizer: 't',
      taskId: `t${number}`,
    },
    ...{
      position: number,
      suite: 'math',
      attempt: 0,
      seed: 1,
      tries: 1,
      tokens,
      calls: 0,
      requests: 1,
      ms: 1,
    },
    verdict: number === 0 ? { outcome: 'correct', checker: 'exact', evidence: '' } : wrong!,
    source: { kind: 'rollout', id },
  }
  run.append('attempt', made)
}

function rolloutOf(id: string, question: string, parts: Parameters<typeof makeRollout>[0] = {}) {
  return makeRollout({
    id,
    prompt: [{ role: 'user', content: question }],
    spans: [{ agent: 'think', kind: 'role', text: `<think>${id}</think>`, origin: { request: 0 } }],
    ...parts,
  })
}
