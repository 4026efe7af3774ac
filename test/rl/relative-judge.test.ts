import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import type { Rollout } from '../../src/schema/index.ts'
import { compareGroupFrom, compareWith } from '../../src/stages/rl/compare-group.ts'
import { rlSettings } from '../../src/stages/rl/config.ts'
import { stepRows } from '../../src/stages/rl/diagnose.ts'
import { run as train } from '../../src/stages/rl/index.ts'
import { createRun } from '../../src/store/index.ts'
import { createGroupJudge } from '../../src/world/judge/group.ts'
import type { GroupJudge, JudgeModel } from '../../src/world/judge/index.ts'
import { howMany } from '../how-many.ts'
import { spansFrom } from '../rollout/spans.ts'
import { recordingEngine } from '../settings/recording-engine.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { pull } from './bandit.ts'
import { makeRollout, makeTask } from './make-rollout.ts'
import { bandit, base, chances } from './train-bandit.ts'

const signal = new AbortController().signal
const configOf = (rl: object): ProjectConfig =>
  ProjectConfig.parse({ rl: { reward: 'relative-judge', ...rl }, tools: { cache: '' } })

/** A judge model that gives an attempt the score written in it. */
const byText: JudgeModel = async ({ user }) => {
  const blocks = [...user.matchAll(/<<attempt (\d+) (\w+)>>\n([\s\S]*?)\n<<end of attempt \1 \2>>/g)]
  const attempts = blocks.map(([, number, , text]) => ({
    attempt: Number(number),
    reason: 'as it says',
    score: Number(/score (\S+)/.exec(text!)?.[1] ?? 0),
  }))
  return JSON.stringify({ attempts })
}
const judge = createGroupJudge({ model: byText, seed: 1 })

/** A rollout that says its own score; its only sampled token identifies it. */
function rollout(id: string, token: number, score: number, parts: Partial<Rollout> = {}): Rollout {
  const sampled = { sampled: [token], logprobs: [-0.5], text: `try ${token}, score ${score}` }
  return makeRollout({ id, ...spansFrom([{ prompt: [1, 2] }, sampled]), ...parts })
}

/** The advantages of the tokens that the engine was given to train on, by token. */
function advantagesIn(calls: readonly unknown[]): Map<number, number> {
  const trained = (
    calls as [string, unknown, { tokens: number[]; weights: number[]; advantages: number[] }[]][]
  )
    .filter(([what]) => what === 'train')
    .flatMap(([, , examples]) => examples)
  return new Map(trained.map(({ tokens, advantages }) => [tokens.at(-1)!, advantages.at(-1)!]))
}

describe('rl.reward = "relative-judge"', () => {
  it('rewards and advantages are those of the scores, whatever the tasks say about the answers', async () => {
    const some = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 4, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(some, some, fc.boolean(), async (one, other, wellFormed) => {
        using run = createRun(temporaryFolder(), { command: 'test', coa: '0' })
        const scores = [one, other].map((group) => group.map((score) => score / 20))
        const config = configOf({
          algorithm: 'grpo',
          steps: 1,
          groups: 2,
          group_size: 4,
          eval_every: 0,
          format_bonus: 0.25,
          keep: 'last',
        })
        const settings = rlSettings(config)
        const { engine, calls } = recordingEngine()
        const tasks = ['a', 'b'].map((id) => makeTask(id))
        const places = new Map<string, number>()
        await train(config, {
          run,
          signal,
          observe: () => {},
          student: { engine },
          tasks,
          compare: compareWith(judge, 0.5, settings),
          rollOut: async ({ id, task, groupId }) => {
            const group = places.get(groupId) ?? places.set(groupId, places.size).get(groupId)!
            const member = Number(id.split('-').at(-1))
            const score = scores[group]![member]!
            return rollout(id, 10 * (group + 1) + member, score, { taskId: task.id, groupId, wellFormed })
          },
        })
        // Recomputed from the scores alone: (R − mean) / (std + 1e-6) within each group, std divided by n − 1.
        const advantages = advantagesIn(calls)
        for (const [group, values] of scores.entries()) {
          const rewards = values.map((score) => score + (wellFormed ? 0.25 : 0))
          const mean = rewards.reduce((sum, value) => sum + value, 0) / 4
          const std = Math.sqrt(rewards.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 3)
          for (const [member, reward] of rewards.entries())
            expect(advantages.get(10 * (group + 1) + member)).toBeCloseTo((reward - mean) / (std + 1e-6), 3)
        }
        for (const { spans, reward, verdict } of run.scan('rollout')) {
          const token = spans[0]!.tokens![0]!
          const score = scores[Math.floor(token / 10) - 1]![token % 10]!
          expect(reward).toBeCloseTo(score + (wellFormed ? 0.25 : 0), 9)
          expect(verdict).toEqual({
            outcome: score >= 0.5 ? 'correct' : 'wrong',
            checker: 'relative-judge',
            evidence: 'as it says',
            score,
          })
        }
      }),
      { numRuns: howMany(150) },
    )
  })

  it('shows the judge only what says something about the model, and who gave no answer', async () => {
    const asked: string[][] = []
    const spy: GroupJudge = async ({ attempts }) => {
      asked.push([...attempts])
      return { scores: attempts.map(() => ({ score: 0.3, reason: '' })) }
    }
    const rollouts = [
      rollout('good', 1, 1),
      rollout('broken', 2, 1, { failure: { boundary: 'tool', message: 'gone' } }),
      rollout('late', 3, 1, { stop: 'time' }),
      rollout('silent', 4, 1, { answer: undefined, verdict: undefined, stop: 'end' }),
    ]
    const compared = await compareWith(spy, 0.5, rlSettings(configOf({})))(makeTask('t'), rollouts, signal)
    expect(asked).toEqual([['try 1, score 1', 'try 4, score 1\n\nThere is no final answer.']])
    expect(compared.map(({ verdict }) => verdict?.checker)).toEqual([
      'relative-judge',
      'exact',
      'exact',
      'relative-judge',
    ])
  })

  it('a judge that fails leaves the group out instead of calling it wrong', async () => {
    const failing: GroupJudge = async () => ({ failure: 'no reply' })
    const compare = compareWith(failing, 0.5, rlSettings(configOf({})))
    const compared = await compare(makeTask('t'), [rollout('a', 1, 1), rollout('b', 2, 0)], signal)
    for (const { verdict } of compared)
      expect(verdict).toEqual({ outcome: 'undecided', checker: 'relative-judge', evidence: 'no reply' })
    const { run, train: go } = await bandit(
      { ...base, reward: 'relative-judge', steps: 1, groups: 1, group_size: 4, max_gen_batches: 2 },
      { compare },
    )
    await expect(go()).rejects.toThrow('2 too few')
    expect([...run.scan('rollout')].map(({ reward }) => reward)).toEqual(Array(8).fill(undefined))
  })

  it('says what is missing: a judge, or rollouts to compare', () => {
    const config = configOf({})
    expect(() => compareGroupFrom(config, rlSettings(config))).toThrow('there is no [judge] model')
    expect(compareGroupFrom(configOf({ reward: 'verdict' }), rlSettings(config))).toBeUndefined()
    expect(() => rlSettings(configOf({ group_size: 1, advantage: 'batch' }))).toThrow('compares the rollouts')
    // Groups in which all or none count as correct still differ.
    expect(rlSettings(config).variance_of).toBe('reward')
  })

  it('a model learns from nothing but the comparison', async () => {
    const settings = { ...base, algorithm: 'grpo', reward: 'relative-judge', steps: 30 }
    const {
      engine,
      run,
      train: go,
    } = await bandit(settings, {
      compare: compareWith(judge, 0.5, rlSettings(configOf(settings))),
      rollOut: async (job, checkpoint, { stepOf }) => {
        const made = await pull(job, checkpoint, { engine, stepOf })
        const isRight = Number(made.answer) === Number(job.task.meta['right'])
        const text = isRight ? 'score 1' : `score 0.${Number(made.answer) % 4}`
        const spans = made.spans.map((span) => ({ ...span, text }))
        return { ...made, spans, verdict: undefined }
      },
    })
    await go()
    for (const chance of await chances(engine)) expect(chance).toBeGreaterThan(0.8)
    expect(Number(stepRows(run.metrics()).at(-1)!['pass_rate'])).toBeGreaterThan(0.7)
  })
})
