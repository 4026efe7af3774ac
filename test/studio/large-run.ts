import { Random } from '../../src/base/random/index.ts'
import type { RecordInput, Run } from '../../src/store/index.ts'

export interface LargeRun {
  tasks: number
  /** Each with so many events. */
  trajectories: number
  events: number
  rollouts: number
  groupSize: number
  /** Groups of a step. */
  groups: number
  /** Tokens of a rollout, about. */
  tokens: number
}

const BATCH = 500
const tools = ['code', 'web_search'] as const
const outcomes = ['correct', 'correct', 'wrong', 'undecided'] as const

/** Fills a run with records like those of a long training, the same each time. */
export function fillRun(run: Run, size: LargeRun): void {
  const random = new Random('large run', 1)
  for (const batch of inBatches(size.tasks, task)) run.appendMany('task', batch)
  for (const batch of inBatches(size.trajectories, (at) => trajectory(at, size, random)))
    run.appendMany('trajectory', batch)
  for (const batch of inBatches(size.trajectories, (at) => sequence(at, size)))
    run.appendMany('sequence', batch)
  for (const batch of inBatches(size.rollouts, (at) => rollout(at, size, random)))
    run.appendMany('rollout', batch)
  const steps = Math.ceil(size.rollouts / size.groupSize / size.groups)
  for (let step = 1; step <= steps; step++)
    run.metric({ stage: 'rl', step, reward_mean: random.unit(), entropy: random.unit() })
}

function* inBatches<T>(count: number, make: (at: number) => T): Generator<T[]> {
  for (let from = 0; from < count; from += BATCH)
    yield Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => make(from + at))
}

const taskOf = (at: number, { tasks }: LargeRun): string => `task-${at % tasks}`
const words = (count: number, at: number): string =>
  Array.from({ length: count }, (_, word) => `word${(at * 31 + word * 17) % 997}`).join(' ')

function task(at: number): RecordInput<'task'> {
  return {
    v: 1,
    id: `task-${at}`,
    suite: at % 2 === 0 ? 'math' : 'search',
    domain: 'math',
    split: 'train',
    question: `Question ${at}: ${words(30, at)}?`,
    gold: { checker: 'math', answer: String(at) },
  }
}

function trajectory(at: number, size: LargeRun, random: Random): RecordInput<'trajectory'> {
  const agents = ['planner', 'actor', 'critic']
  return {
    v: 1,
    id: `run-${at}`,
    taskId: taskOf(at, size),
    team: 'pipeline',
    question: `Question ${at % size.tasks}`,
    answer: String(at),
    verdict: verdict(random),
    meta: { suite: at % 2 === 0 ? 'math' : 'search' },
    events: Array.from({ length: size.events }, (_, place) => {
      const base = {
        id: `e${place}`,
        parent: place === 0 ? null : `e${place - 1}`,
        agent: agents[place % 3]!,
        t: place * 10,
      }
      if (place % 5 === 3)
        return { ...base, type: 'tool-called' as const, tool: 'code', input: { code: 'print(1)' } }
      if (place % 5 === 4)
        return {
          ...base,
          type: 'tool-answered' as const,
          tool: 'code',
          output: words(12, at + place),
          ok: true,
        }
      return {
        ...base,
        type: 'wrote' as const,
        text: words(12, at * 7 + place),
        usage: { promptTokens: 200, completionTokens: 20 },
      }
    }),
  }
}

function sequence(at: number, size: LargeRun): RecordInput<'sequence'> {
  return {
    v: 2,
    id: `distilled-run-${at}`,
    taskId: taskOf(at, size),
    grammar: 'math',
    prompt: [{ role: 'user', content: `Question ${at % size.tasks}` }],
    spans: Array.from({ length: 8 }, (_, place) => ({
      agent: place % 3 === 2 ? 'observation' : 'think',
      kind: place % 3 === 2 ? ('observation' as const) : ('role' as const),
      text: words(12, at + place),
      origin: { events: [`e${place}`] },
    })),
    provenance: { trajectoryId: `run-${at}`, origin: 'distilled' },
    verdict: { outcome: 'correct', checker: 'math', evidence: '' },
    meta: { suite: at % 2 === 0 ? 'math' : 'search' },
  }
}

function rollout(at: number, size: LargeRun, random: Random): RecordInput<'rollout'> {
  const group = Math.floor(at / size.groupSize)
  const step = Math.floor(group / size.groups) + 1
  const groupId = `rl-${step}-${group % size.groups}`
  const found = verdict(random)
  const spans = Array.from({ length: 5 }, (_, place) => {
    const count = Math.max(1, Math.round((size.tokens / 5) * (0.5 + random.unit())))
    const tokens = Array.from(
      { length: count },
      (__, token) => (group * 13 + place * 7 + (token < 9 ? token : random.int(0, 2000))) % 2048,
    )
    const text = words(count / 2, at + place)
    if (place % 2 === 1)
      return {
        agent: 'observation',
        kind: 'observation' as const,
        text,
        origin: { call: (place - 1) / 2 },
        tokens,
      }
    return {
      agent: 'think',
      kind: 'role' as const,
      text,
      origin: { request: place / 2 },
      tokens,
      logprobs: tokens.map(() => Math.round(-1000 * random.unit()) / 1000),
      policies: [{ step: step - 1, tokens: count }],
    }
  })
  return {
    v: 2,
    id: `${groupId}-${at % size.groupSize}`,
    taskId: taskOf(group, size),
    groupId,
    checkpoint: `rl@${step - 1}`,
    grammar: 'math',
    prompt: [],
    promptTokens: [1, 2, 3],
    spans,
    seed: at,
    stop: random.unit() < 0.9 ? 'answer' : 'tokens',
    answer: String(random.int(0, 100)),
    verdict: found,
    reward: found.outcome === 'correct' ? 1 : -0.5 - Math.round(random.unit() * 10) / 10,
    calls: tools.map((agent) => ({ agent, outcome: 'ok' as const, ms: 12 })),
    wellFormed: true,
    ms: { sampling: 1000, tools: 30, checking: 1 },
  }
}

function verdict(random: Random) {
  return { outcome: outcomes[random.int(0, outcomes.length - 1)]!, checker: 'math', evidence: 'compared' }
}
