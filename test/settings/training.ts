import { digestOf } from '../../src/base/digests/index.ts'
import type { Engine } from '../../src/engine/index.ts'
import { byteTokenizer } from '../../src/language/tokens/index.ts'
import type { ProjectConfig } from '../../src/pipeline/settings.ts'
import type { Rollout } from '../../src/schema/index.ts'
import { chooseTasks } from '../../src/stages/rl/choose-tasks.ts'
import { compareWith } from '../../src/stages/rl/compare-group.ts'
import { initialModel, referenceModel, rlSettings } from '../../src/stages/rl/config.ts'
import { run as trainRl } from '../../src/stages/rl/index.ts'
import { practiceTasks } from '../../src/stages/rl/practice-tasks.ts'
import { replayFrom } from '../../src/stages/rl/replay.ts'
import { run as trainSft } from '../../src/stages/sft/index.ts'
import { createRun, type Run } from '../../src/store/index.ts'
import type { GroupJudge } from '../../src/world/judge/index.ts'
import { makeSequence } from '../filter/make-sequence.ts'
import { makeRollout, makeTask, wrong } from '../rl/make-rollout.ts'
import { callOf, policyOf, says } from '../rollout/fixtures.ts'
import { spansFrom } from '../rollout/spans.ts'
import { sumSequence, sums } from '../sft/support.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { type Effects, type Flags, outcome, seenBy } from './effects.ts'
import { recordingEngine } from './recording-engine.ts'

const signal = new AbortController().signal
const observe = (): void => {}
const newRun = (): Run =>
  createRun(temporaryFolder(), { id: 'r', command: 'test', coa: '0', clock: () => new Date(0) } as never)

/** Everything the engine is told, and when rollouts are asked for. */
async function sft(config: ProjectConfig): Promise<unknown> {
  using run = newRun()
  const { engine, calls } = recordingEngine()
  const measured: number[] = []
  const ended = await outcome(async () => {
    await trainSft(config, {
      run,
      signal,
      observe,
      student: { engine, tokenizer: byteTokenizer() },
      data: () => sums(40),
      react: () => [0, 1, 2].map((at) => ({ sequence: sumSequence(at, { id: `react-${at}` }), weight: 1 })),
      evaluate: async (step) => {
        measured.push(step)
        return { accuracy: step / 1000, wellFormed: 1, count: 1 }
      },
    })
  })
  return { calls, measured, ended }
}

const sftEffects: Effects = {
  ...seenBy(
    sft,
    {
      'sft.epochs': 1,
      'sft.max_steps': 2,
      'sft.max_chains': 5,
      'sft.batch_tokens': 500,
      'sft.learning_rate': 1e-3,
      'sft.warmup': 0.5,
      'sft.final_share': 0.5,
      'sft.weight_decay': 0,
      'sft.beta2': 0.9,
      'sft.max_norm': 0,
      'sft.mask_observations': false,
      'sft.context': { '0': 120 },
      'sft.react_share': 0.2,
      'sft.eval_share': 0.5,
      'sft.eval_every': 1,
      'sft.save_every': 1,
      'sft.save_seconds': 1e-9,
      'sft.keep': 'accuracy',
    },
    { 'sft.batch_tokens': 2000 },
  ),
}
// Two measurements at least, so that one of them can be the better one.
sftEffects['sft.keep'] = {
  ...sftEffects['sft.keep']!,
  given: { 'sft.batch_tokens': 2000, 'sft.eval_every': 1 },
}

const tasks = ['a', 'b', 'c', 'd', 'e'].map((id) => makeTask(id, { suite: id === 'a' ? 'small' : 'large' }))

/** A rollout that depends on its job alone: right or wrong, long or short, with and without calls. */
function made(id: string, taskId: string, groupId: string, seed: number, checkpoint: string): Rollout {
  const draw = Number.parseInt(digestOf(id, seed).slice(0, 6), 16)
  const length = 2 + (draw % 9)
  const tokens = Array.from({ length }, (_, at) => 1 + ((draw + at) % 7))
  return makeRollout({
    id,
    taskId,
    groupId,
    checkpoint,
    seed,
    ...spansFrom([{ prompt: [1, 2] }, { sampled: tokens, logprobs: tokens.map((token) => -token / 8) }]),
    verdict:
      draw % 3 === 0 ? { outcome: 'correct', checker: 'exact', evidence: '' } : { ...wrong!, score: 0.4 },
    wellFormed: draw % 5 !== 0,
    calls: draw % 2 === 0 ? [{ agent: 'code', outcome: 'ok', ms: 1, cached: false }] : [],
    stop: draw % 7 === 0 ? 'tokens' : 'answer',
    ...(draw % 11 === 1 ? { stop: 'end', answer: undefined } : {}),
  })
}

const replayed = [1, 2, 3].map((at) => makeSequence({ id: `${at}`, question: `What is ${at}?` }))

/** Compares rollouts by the length of their text. */
const byLength: GroupJudge = async ({ attempts }) => ({
  scores: attempts.map((text) => ({ score: (text.length % 10) / 10, reason: '' })),
})

/** Everything the engine is told, every rollout that is asked for, and how rollouts are stored. */
/** A reference that finds every token less likely than the policy does. */
const otherModel: Pick<Engine, 'forward'> = {
  forward: async (...given) => {
    const { logprobs, ...rest } = await recordingEngine().engine.forward(...given)
    return { ...rest, logprobs: logprobs.map((values) => values.map((value) => value - 1)) }
  },
}

async function rl(config: ProjectConfig): Promise<unknown> {
  using run = newRun()
  const { engine, calls } = recordingEngine()
  const asked: unknown[] = []
  const measured: number[] = []
  const ended = await outcome(async () => {
    await trainRl(config, {
      run,
      signal,
      observe,
      tasks,
      student: { engine, reference: otherModel },
      compare: config.rl.reward === 'verdict' ? undefined : compareWith(byLength, 0.5, rlSettings(config)),
      // As the stage does.
      replay: config.rl.replay === 0 ? undefined : replayFrom(replayed, byteTokenizer(), rlSettings(config)),
      rollOut: async ({ id, task, groupId, seed }, checkpoint) => {
        asked.push([id, task.id, seed, checkpoint])
        return made(id, task.id, groupId, seed, checkpoint)
      },
      evaluate: async (step) => {
        measured.push(step)
        return { accuracy: 1 - step / 1000, wellFormed: 1, count: 1 }
      },
    })
  })
  const stored = [...run.scan('rollout')].map(({ id, reward, promptTokens }) => [
    id,
    reward,
    promptTokens?.length,
  ])
  return { calls, asked, measured, stored, ended }
}

const short: Flags = {
  'rl.steps': 3,
  'rl.groups': 2,
  'rl.group_size': 4,
  'rl.warmup_steps': 1,
  'rollout.max_tokens': 20,
  'rl.overlong_buffer': 4,
}

const rlEffects: Effects = {
  ...seenBy(
    rl,
    {
      'rl.algorithm': 'grpo',
      'rl.steps': 2,
      'rl.max_minutes': 1e-9,
      'rl.groups': 3,
      'rl.group_size': 6,
      'rl.mini_batches': 2,
      'rl.learning_rate': 1e-3,
      'rl.warmup_steps': 3,
      'rl.final_share': 0.1,
      'rl.weight_decay': 0,
      'rl.beta2': 0.9,
      'rl.max_norm': 0,
      'rl.importance_cap': 2,
      'rl.old_logprobs': 'sampler',
      'rl.kl': 0.1,
      'rl.advantage': 'group-mean',
      'rl.normalise': 'sequence',
      'rl.overlong_buffer': 18,
      'rl.overlong_filter': true,
      'rl.void_filter': true,
      'rl.reward': 'relative-judge',
      'rl.partial': true,
      'rl.format_bonus': 0.1,
      'rl.format_penalty': 0.1,
      'rl.tool_bonus': 0.1,
      'rl.curriculum': true,
      'rl.balance': true,
      'rl.keep_rollouts': 1,
      'rl.eval_every': 1,
      'rl.save_every': 1,
      'rl.keep': 'last',
    },
    short,
  ),
  ...seenBy(rl, { 'rl.overlong_factor': 0.5 }, { ...short, 'rl.overlong_buffer': 18 }),
  ...seenBy(rl, { 'rl.variance_of': 'reward' }, { ...short, 'rl.group_size': 2, 'rl.tool_bonus': 0.1 }),
  ...seenBy(rl, { 'rl.dynamic_sampling': false, 'rl.max_gen_batches': 1 }, { ...short, 'rl.group_size': 2 }),
  ...seenBy(
    rl,
    { 'rl.partial_steps': true },
    { ...short, 'rl.groups': 4, 'rl.group_size': 2, 'rl.max_gen_batches': 1 },
  ),
  // The first update of a step has ratios of 1 and is not clipped.
  ...seenBy(
    rl,
    { 'rl.clip_low': 0.1, 'rl.clip_high': 0.5, 'rl.dual_clip': 3 },
    { ...short, 'rl.mini_batches': 2 },
  ),
  ...seenBy(rl, { 'rl.loss': 'gspo' }, { ...short, 'rl.mini_batches': 2, 'rl.dual_clip': 0 }),
  ...seenBy(rl, { 'rl.kl_estimate': 'k1' }, { ...short, 'rl.kl': 0.1 }),
  ...seenBy(rl, { 'rl.replay': 0.5 }, short),
  ...seenBy(rl, { 'rl.replay_sequences': 1 }, { ...short, 'rl.replay': 0.5 }),
  // Without a checkpoint before the first step: the time until the next depends on how long it took.
  ...seenBy(rl, { 'rl.save_seconds': 1e-9 }, { ...short, 'rl.keep': 'last' }),
  ...seenBy(rl, { 'rl.overlap': 1 }, { ...short, 'rl.eval_every': 0 }),
}

/** Answers the same whatever its tools say for one task, and what they say for another. */
async function chosen(config: ProjectConfig): Promise<unknown> {
  using run = newRun()
  const question = 'known: what is 2 + 3?'
  run.append('sequence', {
    v: 2,
    id: 's',
    grammar: 'math',
    prompt: [{ role: 'user', content: question }],
    spans: [],
  })
  const policy = policyOf((soFar) => {
    const seen = /<observation>(.*?)<\/observation>/s.exec(soFar.split('what is').at(-1)!)?.[1]
    if (seen === undefined) return `<plan>Add.</plan>\n<think>Add.</think>\n${callOf('print(2 + 3)')}`
    const answer = soFar.includes('known:') || seen.trim() === '5' ? '5' : '0'
    return `<reflection>Fine.</reflection>\n<think>So.</think>\n<answer>\\boxed{${answer}}</answer>`
  })
  const two = [question, 'found: what is 2 + 3?'].map((text, at) =>
    makeTask(`t${at}`, { question: text, gold: { checker: 'math', answer: '5' } }),
  )
  const world = says('5')
  const found = await chooseTasks(two, { run, config, observe, signal, policy, world, fingerprint: 'f' })
  return { tasks: found.tasks.map(({ id }) => id), rollouts: found.rollouts }
}

const practised = async (config: ProjectConfig): Promise<unknown> => {
  using run = newRun()
  return (await practiceTasks(run, config)).tasks.map(({ id }) => id)
}

const startsFrom = async (config: ProjectConfig): Promise<unknown> => {
  using run = newRun()
  return initialModel(run, config)
}

const pulledToward = async (config: ProjectConfig): Promise<unknown> => {
  using run = newRun()
  return referenceModel(run, config)
}

export const trainingEffects: Effects = {
  ...sftEffects,
  ...rlEffects,
  ...seenBy(chosen, { 'rl.disjoint': true, 'rl.max_without_tools': 0.3, 'rl.pass_rate': [0, 0.5] }),
  ...seenBy(chosen, { 'rl.pass_rate_rollouts': 2 }, { 'rl.pass_rate': [0, 0.5] }),
  ...seenBy(practised, { 'rl.task_count': 3 }, { 'tasks.suites': ['math'] }),
  ...seenBy(startsFrom, { 'rl.model': 'models/mine' }),
  ...seenBy(pulledToward, { 'rl.reference': 'models/larger' }),
}
