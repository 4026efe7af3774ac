import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openWorld } from '../../src/agent/index.ts'
import { builtinGrammars } from '../../src/language/grammar/index.ts'
import { byteTokenizer } from '../../src/language/tokens/index.ts'
import { openSolver } from '../../src/pipeline/eval-solvers.ts'
import type { ProjectConfig } from '../../src/pipeline/settings.ts'
import { readEnvironment } from '../../src/settings/index.ts'
import { check } from '../../src/stages/check/index.ts'
import { distill } from '../../src/stages/distill/index.ts'
import { solveAll } from '../../src/stages/eval/index.ts'
import { filter } from '../../src/stages/filter/index.ts'
import { mindSettings } from '../../src/stages/teach/configured-team.ts'
import { modelMinds, teach } from '../../src/stages/teach/index.ts'
import { startOpenAiServer } from '../../src/testing/openai-server.ts'
import { type ChatModel, embedderFromSettings } from '../../src/world/models/index.ts'
import { openToolbox } from '../../src/world/tools/index.ts'
import { tasksOf } from '../eval/support.ts'
import { makeSequence } from '../filter/make-sequence.ts'
import { tinyModel } from '../sft/support.ts'
import { type Effects, type Flags, outcome } from './effects.ts'
import { corpus, folder, newRun, observe, signal, trajectory } from './places.ts'

process.env['SETTINGS_KEY_ONE'] = 'the first key'
process.env['SETTINGS_KEY_TWO'] = 'the second key'

/** How the servers answer just now, and what they were asked. */
const now = { delayMs: 0, status: 200, text: '', running: 0, most: 0, asked: [] as Record<string, unknown>[] }

export const servers = await Promise.all(
  ['one', 'two'].map((server) =>
    startOpenAiServer(async ({ headers, body }) => {
      const { messages: _, input, seed: __, ...rest } = body
      const lengths = [input ?? []].flat().map((text) => String(text).length)
      now.asked.push({ server, key: headers.authorization, lengths, ...rest })
      now.most = Math.max(now.most, ++now.running)
      await sleep(now.delayMs)
      now.running--
      return now.status === 200 ? now.text : { status: now.status }
    }),
  ),
)

type Ask = (config: ProjectConfig) => Promise<unknown>

/** Every request that is made, and whether several are made at the same time. */
export function asked(
  ask: Ask,
  answers: Partial<typeof now> = {},
): (config: ProjectConfig) => Promise<object> {
  return async (config) => {
    Object.assign(now, { delayMs: 0, status: 200, text: 'x', most: 0, asked: [] }, answers)
    const came = await outcome(() => ask(config))
    // What nobody waits for any longer must not be taken for what comes next.
    do await sleep(20)
    while (now.running > 0)
    // Which of several comes first is chance, and so is whether quick ones overlap.
    const parallel = now.delayMs > 0 && now.most > 1
    return { asked: now.asked.map((one) => JSON.stringify(one)).sort(), parallel, came }
  }
}

/** The six settings of a model, whoever asks it. */
function modelEffects(section: string, ask: Ask, given: Flags = {}, text = 'x'): Effects {
  const key = (name: string): string => `${section}.${name}`
  const base: Flags = {
    ...given,
    [key('base_url')]: servers[0]!.baseUrl,
    [key('model')]: 'model-a',
    [key('retries')]: 0,
  }
  const without = (name: string): Flags =>
    Object.fromEntries(Object.entries(base).filter(([one]) => one !== key(name)))
  const see = asked(ask, { text })
  const slowly = asked(ask, { text, delayMs: 300 })
  return {
    [key('base_url')]: {
      see,
      from: servers[0]!.baseUrl,
      to: servers[1]!.baseUrl,
      given: without('base_url'),
    },
    [key('model')]: { see, from: 'model-a', to: 'model-b', given: without('model') },
    [key('key_env')]: { see, from: 'SETTINGS_KEY_ONE', to: 'SETTINGS_KEY_TWO', given: base },
    [key('timeout_s')]: {
      see: async (config) => ({ ...(await slowly(config)), asked: [] }),
      from: 0.02,
      to: 20,
      given: base,
    },
    [key('retries')]: { see: asked(ask, { status: 500 }), from: 0, to: 1, given: without('retries') },
    [key('concurrency')]: { see: asked(ask, { text, delayMs: 150 }), from: 1, to: 8, given: base },
  }
}

const quick: Flags = { 'sandbox.driver': 'pyodide', 'tools.cache': '' }

async function judge(config: ProjectConfig): Promise<unknown> {
  const world = await openWorld(config)
  const cases = ['a', 'b', 'c'].map((answer) => ({ question: 'q?', reference: 'r', answer }))
  const judged = await Promise.all(cases.map((one) => world.check.judge!.judge(one)))
  await world.close()
  return judged.map((one) => 'failure' in one)
}

async function summary(config: ProjectConfig): Promise<unknown> {
  const toolbox = openToolbox(config, readEnvironment())
  const tool = await toolbox.open('crawl_page')
  const { text } = await tool.execute({ urls: corpus.sources }, { signal, question: 'Which light?' })
  await toolbox.close()
  return text
}

async function embedding(config: ProjectConfig): Promise<unknown> {
  const texts = Array.from({ length: 200 }, (_, at) => `${'word '.repeat(50)}${at}`)
  const embedder = embedderFromSettings('embedding', config.embedding, readEnvironment())
  return (await embedder!.embed(texts)).length
}

async function smoothed(config: ProjectConfig): Promise<unknown> {
  using run = newRun()
  run.append('trajectory', trajectory)
  return (await distill.run({ run, config, observe, signal })).figures['sequences']
}

async function taught(config: ProjectConfig, tasks = 2): Promise<unknown> {
  using run = newRun()
  for (const task of tasksOf(tasks)) run.append('task', task)
  await teach.run({ run, config, observe, signal })
  return run.count('trajectory')
}
const taughtOnce: Ask = (config) => taught(config, 1)

/** The first prompts that the agents of the team get. */
async function prompted(config: ProjectConfig): Promise<unknown> {
  using run = newRun()
  for (const task of tasksOf(1)) run.append('task', { ...task, meta: { solution: 'Count up by one.' } })
  await teach.run({ run, config, observe, signal }).catch(() => {})
  const [made] = [...run.scan('trajectory')]
  return made!.events.flatMap((event) => (event.type === 'activated' ? [event.messages] : []))
}

/** What agents of a model that cannot write wrote. */
async function written(config: ProjectConfig): Promise<unknown> {
  using run = newRun()
  for (const task of tasksOf(1)) run.append('task', task)
  await teach.run({ run, config, observe, signal }).catch(() => {})
  const [made] = [...run.scan('trajectory')]
  return made!.events.flatMap((event) => (event.type === 'wrote' ? [event.said?.as ?? null] : []))
}

/** The program of a model that comments on it. */
async function programmed(config: ProjectConfig): Promise<unknown> {
  const completion = {
    text: '# Add.\nprint(2 + 3)\n',
    usage: { prompt: 0, completion: 0 },
    ms: 0,
    attempts: 1,
  }
  const model = { name: 'm', continues: true, complete: async () => ({ ...completion, finish: 'stop' }) }
  const agent = { name: 'coder', instructions: '', tool: 'code' }
  const { agents, answer } = builtinGrammars.get('math')!
  const minds = modelMinds(model as unknown as ChatModel, {}, mindSettings(config.teach, config.teacher))
  const asked = {
    agent,
    wants: ['call' as const],
    messages: [],
    tool: agents.get('code')!,
    answer: answer.payload,
  }
  return (await minds(tasksOf(1)[0]!, 1)(agent).write({ ...asked, signal })).text
}

/** The ReAct agent on a few tasks. It never answers. */
export async function reacted(config: ProjectConfig): Promise<unknown> {
  using run = newRun()
  const world = await openWorld(config)
  const { solver } = await openSolver({ kind: 'react' }, config, world, byteTokenizer(), observe)
  try {
    await solveAll(config, { run, tasks: tasksOf(3), solvers: [solver], signal, observe })
  } finally {
    await world.close()
  }
  return [...run.scan('attempt')].length
}

/** Scores one of two sequences, and fails on the other. */
const scoring = await startOpenAiServer(({ body }) =>
  JSON.stringify(body['messages']).includes('Fair work')
    ? JSON.stringify({ reason: '', coherence: 3, correctness: 3, usefulness: 3, score: 3 })
    : { status: 400 },
)

async function scored(config: ProjectConfig): Promise<unknown> {
  using run = newRun()
  for (const thought of ['Fair work.', 'Odd work.'])
    run.append('sequence', makeSequence({ id: thought, thought, reflection: 'Fine.' }))
  const { funnel } = await filter.run({ run, config, observe, signal })
  return funnel.reasons.map(({ reason, count }) => [reason, count])
}

const scoredGiven: Flags = {
  ...quick,
  'judge.base_url': scoring.baseUrl,
  'judge.model': 'model-a',
  'judge.retries': 0,
  'filter.near_duplicates': false,
  'filter.judge_undecided': 'drop',
}

/** Compares attempts; none is better than 0.6. */
const comparing = await startOpenAiServer(() =>
  JSON.stringify({ attempts: [{ attempt: 1, reason: '', score: 0.6 }] }),
)

async function compared(config: ProjectConfig): Promise<unknown> {
  using run = newRun()
  run.append('trajectory', trajectory)
  await check.run({ run, config, observe, signal }, { without: 'relative', again: true })
  return [...run.scan('trajectory')].map(({ verdict }) => verdict?.outcome)
}

export const call = '<think>Look.</think><code>\n```py\n```\n</code>'
const evalGiven: Flags = { ...quick, 'eval.max_turns': 1 }
const evalModel: Flags = {
  ...quick,
  'eval.base_url': servers[0]!.baseUrl,
  'eval.model': 'model-a',
  'eval.retries': 0,
}

const teamGiven: Flags = {
  ...quick,
  'teach.mind': 'model',
  'teacher.base_url': servers[0]!.baseUrl,
  'teacher.model': 'model-a',
  'teacher.retries': 0,
}
/** Every agent finds what it should write in it. The program fails, and there is never an answer. */
const everything =
  '<facts>f</facts><plan>p</plan><task for="coder">t</task><call>raise ValueError</call><report>r</report><reflection>r</reflection>'

/** The same, but after the first report the answer is suggested. It is wrong. */
const guessing = `<suggestion>-1</suggestion>${everything}<answer>-1</answer>`

export const modelsEffects: Effects = {
  ...modelEffects('judge', judge, quick, '{"verdict": "correct", "reason": ""}'),
  ...modelEffects('summary', summary, { 'search.corpus': corpus.file }),
  ...modelEffects('embedding', embedding),
  ...modelEffects('distill', smoothed),
  ...modelEffects('teacher', taught, { ...quick, 'teach.mind': 'model' }),
  ...modelEffects('eval', reacted, evalGiven, call),
  'filter.judge': { see: scored, to: true, given: scoredGiven },
  'filter.judge_min': {
    see: scored,
    from: 3,
    to: 4,
    given: { ...scoredGiven, 'filter.judge': true, 'filter.judge_undecided': 'keep' },
  },
  'filter.judge_undecided': {
    see: scored,
    from: 'keep',
    to: 'drop',
    given: { ...scoredGiven, 'filter.judge': true },
  },
  'check.min_score': {
    see: compared,
    from: 0.5,
    to: 0.7,
    given: { ...quick, 'judge.base_url': comparing.baseUrl, 'judge.model': 'model-a' },
  },
  'embedding.max_characters': {
    see: asked(embedding),
    to: 20,
    given: { 'embedding.base_url': servers[0]!.baseUrl, 'embedding.model': 'model-a' },
  },
  'eval.temperature': { see: asked(reacted), to: 0.7, given: evalModel },
  'eval.max_tokens': { see: asked(reacted), to: 99, given: evalModel },
  'eval.max_turns': { see: asked(reacted, { text: call }), from: 1, to: 2, given: evalModel },
  'teach.concurrency': {
    see: asked(taught, { delayMs: 150 }),
    to: 1,
    given: teamGiven,
  },
  'teacher.temperature': { see: asked(taught), to: 0.1, given: teamGiven },
  'teacher.max_tokens': { see: asked(taught), to: 99, given: teamGiven },
  'teacher.agents': {
    see: asked(taught),
    to: { manager: { base_url: servers[1]!.baseUrl, model: 'model-b', temperature: 0 } },
    given: teamGiven,
  },
  'teach.replies': { see: asked(taught), to: 'strict', given: teamGiven },
  'teach.retries': { see: asked(taught), to: 3, given: teamGiven },
  'teach.examples': { see: prompted, to: false, given: teamGiven },
  'teach.hints': { see: prompted, to: true, given: teamGiven },
  'teach.verdicts': {
    see: asked(taughtOnce, { text: guessing }),
    to: 1,
    given: { ...teamGiven, 'teach.worker_steps': 1 },
  },
  'teach.comments': { see: programmed, from: true, to: false },
  'teach.recheck': {
    see: asked(taughtOnce, { text: guessing }),
    to: 1,
    given: { ...teamGiven, 'teach.worker_steps': 1 },
  },
  'teach.worker_steps': {
    see: asked(taughtOnce, { text: everything }),
    to: 1,
    given: { ...teamGiven, 'teach.max_steps': 3 },
  },
  'teach.constrained': {
    see: written,
    to: false,
    given: {
      ...quick,
      'teach.mind': 'model',
      'teach.max_steps': 1,
      'teacher.model': await tinyModel(join(folder, 'untrained'), 16_000),
      'teacher.max_tokens': 16,
    },
  },
}
