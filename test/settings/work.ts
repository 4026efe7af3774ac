import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { measure, rollOut, rolloutSettings } from '../../src/agent/index.ts'
import { newRun as newCommandRun } from '../../src/cli/new-run.ts'
import { evaluate } from '../../src/pipeline/index.ts'
import type { ProjectConfig } from '../../src/pipeline/settings.ts'
import { streamText } from '../../src/schema/index.ts'
import { run as distill } from '../../src/stages/distill/index.ts'
import { makeReport, solveAll } from '../../src/stages/eval/index.ts'
import { run as filter } from '../../src/stages/filter/index.ts'
import { run as teach, teamOf } from '../../src/stages/teach/index.ts'
import { readSelection } from '../../src/store/index.ts'
import { heldOutTasks, measuringTasks, suites, trainingTasks } from '../../src/tasks/index.ts'
import { drawnSolver, tasksOf } from '../eval/support.ts'
import { fiveCalls, makeSequence, type Shape } from '../filter/make-sequence.ts'
import { callOf, job, policyOf, task as sum, worldOf, writes } from '../rollout/fixtures.ts'
import { type Effects, outcome, seenBy } from './effects.ts'
import { folder, newRun, observe, searchTask, signal, trajectory, worked } from './places.ts'

const questions = join(folder, 'questions.jsonl')
writeFileSync(questions, '{"question": "Who?", "answer": "Ada", "split": "train"}\n')
const pulled = join(folder, 'pulled')
mkdirSync(join(pulled, 'gsm8k'), { recursive: true })
for (const split of ['train', 'test'])
  writeFileSync(
    join(pulled, 'gsm8k', `${split}.jsonl`),
    `${JSON.stringify({ question: `${split}?`, answer: '#### 7' })}\n`,
  )

/** Which tasks each split gives. */
const given = (config: ProjectConfig): Promise<unknown> =>
  outcome(async () => ({
    train: (await trainingTasks({ config, observe, signal })).map(({ question, domain }) => [
      question,
      domain,
    ]),
    dev: (await measuringTasks(config)).map(({ id }) => id),
  }))
const held = async (config: ProjectConfig): Promise<unknown> => (await heldOutTasks(config)).length

const madeIn = async (config: ProjectConfig): Promise<unknown> => {
  using run = newCommandRun(config, 'test')
  return run.dir.replace(run.id, '')
}

/** The team on one task, event by event. */
async function taught(config: ProjectConfig): Promise<unknown> {
  const { events, meta, answer } = await worked(await teamOf(config))
  const { ms: _, ...totals } = meta
  return { events: events.map((event) => ({ ...event, t: 0, ms: 0 })), totals, answer }
}

async function trajectories(config: ProjectConfig): Promise<unknown> {
  using run = newRun()
  run.append('task', searchTask)
  await teach(config, { run, signal, observe })
  return run.count('trajectory')
}

async function distilled(config: ProjectConfig): Promise<unknown> {
  using run = newRun()
  run.append('trajectory', trajectory)
  await distill(config, { run, signal, observe })
  return [...run.scan('sequence')].map((sequence) => [streamText(sequence), sequence.meta['problems']])
}

/** The same run by agents who say who they are. */
const spoken = {
  ...trajectory,
  events: trajectory.events.map((event) =>
    event.type === 'wrote' ? { ...event, thought: `As the ${event.agent}, ${event.thought}` } : event,
  ),
}

async function distilledAsOne(config: ProjectConfig): Promise<unknown> {
  using run = newRun()
  run.append('trajectory', spoken)
  await distill(config, { run, signal, observe })
  return [...run.scan('sequence')].map(streamText)
}

let words = 0
const unlike = (): string => Array.from({ length: 60 }, () => `w${words++}`).join(' ')
const known = 'How many lamps does the second tower of Osk harbour have, and who lit them first?'
const price = (name: string, apples: number, cents: number): string =>
  `${name} buys ${apples} apples at the market and pays ${cents} cents for each of them. How much is that?`
writeFileSync(
  join(folder, 'held-out.jsonl'),
  [known, price('Bo', 5, 90)].map((question) => JSON.stringify({ question, answer: '7' })).join('\n'),
)
const second = { seed: 1, split: 'test', index: 1 } as const
const twin = unlike()
const shapes: Shape[] = [
  { id: 'good', reflection: 'Fine.' },
  { id: 'three', reflection: 'Fine.', calls: fiveCalls.slice(2) },
  { id: 'circling', reflection: 'Fine.', calls: [...fiveCalls, 'YEAR'] },
  { id: 'shown', reflection: 'Fine.', sawGold: true },
  { id: 'rejected', reflection: 'Fine.', verdicts: 1 },
  { id: 'mended', reflection: 'Fine.', checks: ['Score: 1', 'Score: 4'] },
  { id: 'addressed', reflection: 'Fine, as you asked.' },
  { id: 'unreflected' },
  { id: 'unreflected code', grammar: 'code' },
  { id: 'known', reflection: 'Fine.', question: known.replace('first', 'last') },
  { id: 'paraphrase', reflection: 'Fine.', question: price('Ada', 3, 12) },
  { id: 'unchecked', reflection: 'Fine.', outcome: 'unchecked' },
  { id: 'tested', reflection: 'Fine.', question: suites.get('math')!.generate(second).question },
  { id: 'first twin', reflection: 'Fine.', thought: twin },
  { id: 'second twin', reflection: 'Fine.', thought: `${twin} and some more words of its own here` },
  { id: 'example', origin: 'example' },
  { id: 'marked', reflection: 'Fine.' },
]
const sequences = shapes.map((shape) => makeSequence({ thought: unlike(), ...shape }))

/** Which sequences are kept, how often each counts, and why the others are not. */
async function filtered(config: ProjectConfig): Promise<unknown> {
  using run = newRun()
  for (const sequence of sequences) run.append('sequence', sequence)
  run.append('mark', {
    v: 1,
    id: 'mark',
    of: { kind: 'sequence', id: 'marked' },
    rating: 'bad',
    by: 'user',
    at: '2026-01-01T00:00:00Z',
  })
  const { funnel } = await filter(config, { run, signal, observe })
  const kept = [...readSelection(run)].map(({ sequence, weight }) => [sequence.id, weight])
  return { kept, reasons: funnel.reasons.map(({ stage, reason, count }) => [stage, reason, count]) }
}
const against = [join(folder, 'held-out.jsonl')]

/** Calls its tool three times with the same input, then answers. */
async function rolled(config: ProjectConfig): Promise<unknown> {
  const requests: unknown[] = []
  const write = writes((observations) =>
    observations < 3
      ? `${observations === 0 ? '<plan>Add.</plan>\n' : '<reflection>Again.</reflection>\n'}<think>Add.</think>\n${callOf('print(2 + 3)')}`
      : '<reflection>Fine.</reflection>\n<think>So.</think>\n<answer>\\boxed{5}</answer>',
  )
  const policy = policyOf(write, {
    onRequest: ({ temperature, topP, topK, maxTokens, allowed }) =>
      void requests.push({ temperature, topP, topK, maxTokens, constrained: allowed !== undefined }),
  })
  const world = worldOf(async () => {
    await sleep(5)
    return { text: 'five '.repeat(100) }
  })
  const rollout = await rollOut(job, policy, world, rolloutSettings(config), { signal })
  return { requests, stop: rollout.stop, prompt: rollout.prompt, text: streamText(rollout) }
}

async function parallelRollouts(config: ProjectConfig): Promise<unknown> {
  let [running, most] = [0, 0]
  const policy = policyOf(() => '<answer>5</answer>', {
    onRequest: async () => {
      most = Math.max(most, ++running)
      await sleep(10)
      running--
    },
  })
  const tasks = [1, 2, 3].map((number) => ({ ...sum, id: `t${number}` }))
  await measure(
    tasks,
    policy,
    worldOf(async () => ({ text: '' })),
    config,
    { signal },
  )
  return most > 1
}

/** As RL evaluates. */
async function measured(config: ProjectConfig): Promise<unknown> {
  const policy = policyOf(() => '<answer>5</answer>')
  const world = worldOf(async () => ({ text: '' }))
  return measure([sum], policy, world, config, { signal, samples: config.rl.eval_samples })
}

async function reported(config: ProjectConfig): Promise<unknown> {
  using run = newRun()
  await solveAll(config, { run, tasks: tasksOf(12), solvers: [drawnSolver('s', 0.5)], signal, observe })
  return makeReport(config, run, { solvers: ['s'] }).report.solvers
}

/** Who solves the held-out tasks of a run; both are the base model, which writes a few tokens. */
async function evaluated(config: ProjectConfig): Promise<unknown> {
  using run = newRun()
  await evaluate.run({ run, config, signal, observe })
  return [...run.scan('attempt')].map(({ solver, kind }) => [solver, kind])
}

/** The tools that the prompt of an evaluated model offers. */
async function offered(config: ProjectConfig): Promise<unknown> {
  using run = newRun()
  await evaluate.run({ run, config, signal, observe })
  return [...run.scan('rollout')].map(({ prompt }) => prompt[0]!.content)
}

export const workEffects: Effects = {
  ...seenBy(
    given,
    { 'project.seed': 2, 'tasks.count': 3, 'tasks.levels': { math: 2 } },
    { 'tasks.suites': ['math'] },
  ),
  ...seenBy(given, { 'tasks.suites': ['code'], 'tasks.dev_count': 2 }),
  ...seenBy(given, { 'tasks.data': pulled }, { 'tasks.suites': ['gsm8k'] }),
  ...seenBy(given, { 'language.grammar': 'web' }, { 'tasks.suites': [questions] }),
  ...seenBy(held, { 'tasks.test_count': 2 }, { 'tasks.suites': ['math'] }),
  ...seenBy(
    madeIn,
    { 'project.runs': join(folder, 'other-runs') },
    {},
    { 'project.runs': join(folder, 'some-runs') },
  ),
  ...seenBy(taught, {
    'teach.topology': 'debate',
    'teach.mind': 'erring',
    'teach.dials': { slip: 1, notice: 0 },
    'teach.reflect_every': 1,
    'teach.max_steps': 1,
    'teach.max_tokens': 10,
    'teach.max_seconds': 1e-6,
    'teach.prompt_price': 3,
    'teach.completion_price': 15,
  }),
  ...seenBy(taught, { 'teach.max_spend': 1e-6 }, { 'teach.prompt_price': 3 }),
  ...seenBy(trajectories, { 'teach.max_minutes': 1e-9 }, { 'sandbox.driver': 'pyodide', 'tools.cache': '' }),
  ...seenBy(measured, { 'rl.eval_samples': 3 }),
  ...seenBy(trajectories, { 'teach.runs': 2 }, { 'sandbox.driver': 'pyodide', 'tools.cache': '' }),
  ...seenBy(
    trajectories,
    { 'teach.until_correct': true },
    { 'teach.runs': 3, 'sandbox.driver': 'pyodide', 'tools.cache': '' },
  ),
  ...seenBy(distilled, {
    'distill.map': { critic: 'drop' },
    'distill.quotes': true,
    'distill.thoughts': false,
  }),
  'distill.voice': { see: distilledAsOne, to: { builtin: false } },
  ...seenBy(
    filtered,
    {
      'filter.min_interactions': 1,
      'filter.min_interactions_by_suite': { search: 1 },
      'filter.max_same_call': 3,
      'filter.exclude_saw_gold': true,
      'filter.exclude_verdicts': true,
      'filter.voice': false,
      'filter.reflection_agents': ['plan'],
      'filter.reflection_required': ['web'],
      'filter.keep_unreflected': 1,
      'filter.check_agents': ['plan'],
      'filter.low_score': 0,
      'filter.correction_weight': 5,
      'filter.max_tokens': 100,
      'filter.max_characters': 100,
      'filter.near_duplicates': false,
      'filter.per_task': 1,
      'filter.duplicate_likeness': 1,
      'filter.unchecked': 'keep',
      'filter.marks': false,
      'filter.against': against,
      'filter.skip_origins': [],
    },
    { 'filter.keep_unreflected': 0 },
  ),
  ...seenBy(
    filtered,
    { 'filter.min_reflecting': 1 },
    { 'filter.keep_unreflected': 0, 'filter.reflection_required': [], 'filter.min_interactions': 0 },
  ),
  ...seenBy(
    filtered,
    { 'filter.overlap_words': 40, 'filter.overlap_share': 1 },
    { 'filter.against': against },
  ),
  ...seenBy(filtered, { 'filter.paraphrases': false }, { 'filter.against': against }),
  ...seenBy(
    filtered,
    { 'filter.against_count': 1 },
    { 'filter.against': ['math'] },
    { 'filter.against_count': 2 },
  ),
  ...seenBy(filtered, { 'language.tokenizer': 'nano' }, { 'filter.max_tokens': 4000 }),
  ...seenBy(rolled, {
    'rollout.temperature': 0.5,
    'rollout.top_p': 0.9,
    'rollout.top_k': 5,
    'rollout.max_turns': 1,
    'rollout.max_tokens': 120,
    'rollout.max_seconds': 1e-6,
    'rollout.max_same_call': 1,
    'rollout.observation_tokens': 200,
    'rollout.constrained': true,
    'rollout.react': true,
  }),
  ...seenBy(parallelRollouts, { 'rollout.concurrency': 1 }),
  ...seenBy(
    reported,
    {
      'eval.attempts': 2,
      'eval.resamples': 20,
      'eval.prices': { model: { prompt: 3, completion: 15 } },
    },
    { 'eval.resamples': 200 },
  ),
  ...seenBy(
    evaluated,
    { 'eval.solvers': ['base', 'plain'] },
    { 'tasks.suites': ['math'], 'tasks.test_count': 1, 'rollout.max_tokens': 8, 'eval.max_tokens': 8 },
    { 'eval.solvers': ['base'] },
  ),
  ...seenBy(
    offered,
    { 'eval.add_tools': ['code'], 'eval.remove_tools': ['crawl_page'] },
    {
      'tasks.suites': ['search'],
      'tasks.test_count': 1,
      'rollout.max_tokens': 8,
      'eval.solvers': ['base'],
    },
  ),
  ...seenBy(reported, { 'eval.picker': 'oracle' }, { 'eval.attempts': 3, 'eval.resamples': 20 }),
}
