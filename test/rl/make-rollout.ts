import { Rollout, type Task } from '../../src/schema/index.ts'

/** A rollout with everything in order but for what is said. */
export function makeRollout(parts: Partial<Rollout> = {}): Rollout {
  return Rollout.parse({
    v: 1,
    id: 'r',
    taskId: 't',
    groupId: 'g',
    checkpoint: 'c@0',
    grammar: 'math',
    seed: 1,
    segments: [
      { origin: 'prompt', tokens: [1, 2] },
      { origin: 'sampled', tokens: [3, 4], logprobs: [-0.5, -1.5] },
    ],
    text: '',
    stop: 'answer',
    answer: '42',
    verdict: { outcome: 'correct', checker: 'exact', evidence: '' },
    calls: [],
    wellFormed: true,
    tokensByAgent: {},
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
