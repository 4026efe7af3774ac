import { Rollout, type Task } from '../../src/schema/index.ts'
import { spansFrom } from '../rollout/spans.ts'

/** A valid rollout with the given changes. */
export function makeRollout(parts: Partial<Rollout> = {}): Rollout {
  return Rollout.parse({
    v: 2,
    id: 'r',
    taskId: 't',
    groupId: 'g',
    checkpoint: 'c@0',
    grammar: 'math',
    seed: 1,
    prompt: [],
    ...spansFrom([{ prompt: [1, 2] }, { sampled: [3, 4], logprobs: [-0.5, -1.5] }]),
    stop: 'answer',
    answer: '42',
    verdict: { outcome: 'correct', checker: 'exact', evidence: '' },
    calls: [],
    wellFormed: true,
    ms: { sampling: 0, tools: 0, checking: 0 },
    ...parts,
  })
}

export const wrong: Rollout['verdict'] = { outcome: 'wrong', checker: 'exact', evidence: '' }

export function makeTask(id: string, parts: Partial<Task> = {}): Task {
  return {
    v: 1,
    id,
    suite: 'bandit',
    domain: 'math',
    question: id,
    gold: { checker: 'exact', answers: ['1'] },
    meta: {},
    ...parts,
  }
}
