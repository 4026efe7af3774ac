import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Rollout } from '../../src/schema/index.ts'
import { advantagesOf } from '../../src/stages/rl/advantages.ts'
import { openRun, type Run } from '../../src/store/index.ts'
import type { Page, PrefixBranch, RolloutRow, Studio } from '../../src/studio/index.ts'
import { fillRun } from './large-run.ts'
import { smallRun, smallSize } from './small-run.ts'
import { get, post, send, studioOn, until } from './support.ts'

const runs = mkdtempSync(join(tmpdir(), 'coa-studio-api-'))
const path = '/api/runs/small'
let studio: Studio
let run: Run
let rollouts: Rollout[]

beforeAll(async () => {
  smallRun(runs).close()
  run = openRun(join(runs, 'small'))
  rollouts = [...run.scan('rollout')]
  studio = await studioOn({ runs, defaults: { 'rl.steps': 10, 'rl.advantage': 'group', 'sft.epochs': 3 } })
})
afterAll(async () => {
  run.close()
  await studio.stop()
  rmSync(runs, { recursive: true })
})

/** Every row of a list, page by page. */
async function all<Row>(list: string, limit: number): Promise<Row[]> {
  const rows: Row[] = []
  let cursor: string | undefined
  do {
    const sign = list.includes('?') ? '&' : '?'
    const { status, json, text } = await send(
      studio,
      `${path}/${list}${sign}limit=${limit}${cursor === undefined ? '' : `&cursor=${cursor}`}`,
    )
    if (status !== 200) throw new Error(text)
    const page = json as Page<Row>
    expect(page.rows.length).toBeLessThanOrEqual(limit)
    rows.push(...page.rows)
    cursor = page.next
  } while (cursor !== undefined)
  return rows
}

describe('lists', () => {
  it.each(['log', '-log', 'reward', '-reward', 'advantage', '-advantage', 'tokens', '-tokens'])(
    'have every rollout once, sorted by %s, whatever the size of a page',
    async (order) => {
      const rows = await all<RolloutRow>(`rollouts?order=${order}`, 47)
      expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(rollouts.map(({ id }) => id)))
      expect(rows).toHaveLength(rollouts.length)
      const name = order.replace('-', '') as 'log' | 'reward' | 'advantage' | 'tokens'
      const values = rows.map((row) =>
        name === 'log' ? rollouts.findIndex(({ id }) => id === row.id) : row[name]!,
      )
      const sorted = values.toSorted((one, other) => (order.startsWith('-') ? other - one : one - other))
      expect(values).toEqual(sorted)
      expect(await all<RolloutRow>(`rollouts?order=${order}`, 100)).toEqual(rows)
    },
  )

  it('have the rows that match, and their number', async () => {
    const wanted = rollouts.filter(({ verdict, stop }) => verdict?.outcome === 'wrong' && stop === 'answer')
    const rows = await all<RolloutRow>('rollouts?outcome=wrong&stop=answer', 10)
    expect(rows.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id))
    expect(
      (await get(studio, 'GET /api/runs/:run/rollouts', `${path}/rollouts?outcome=wrong&stop=answer`)).total,
    ).toBe(wanted.length)
    const found = await all<{ id: string; question: string }>('tasks?search=QUESTION%201', 100)
    const known = [...run.scan('task')].filter(({ question }) => question.startsWith('Question 1'))
    expect(found.map(({ id }) => id)).toEqual(known.map(({ id }) => id))
    expect(await all('tasks?search=%25', 100)).toEqual([])
  })

  it('have short rows that say what the records say', async () => {
    const [row] = await all<RolloutRow>('rollouts?search=rl-2-3-4', 10)
    const record = rollouts.find(({ id }) => id === 'rl-2-3-4')!
    expect(row).toMatchObject({
      step: 2,
      groupId: 'rl-2-3',
      outcome: record.verdict!.outcome,
      reward: record.reward,
      calls: record.calls.length,
      suite: run.get('task', record.taskId)!.suite,
    })
    const { rows: trajectories } = await get(
      studio,
      'GET /api/runs/:run/trajectories',
      `${path}/trajectories?task=task-3`,
    )
    expect(trajectories.map(({ id, events, agents }) => [id, events, agents])).toEqual([
      ['run-3', smallSize.events, 3],
      ['run-23', smallSize.events, 3],
    ])
  })
})

describe('the filter', () => {
  it('gives a reason for each chain that was dropped', async () => {
    const { rows } = await get(
      studio,
      'GET /api/runs/:run/chains',
      `${path}/chains?stage=quality&reason=repeated%20tool%20call`,
    )
    expect(rows).toHaveLength(15)
    expect(rows[0]).toMatchObject({
      id: 'distilled-run-25',
      kept: false,
      dropped: { stage: 'quality', detail: 'code' },
    })
    expect((await all<{ weight: number }>('chains?kept=true', 10)).map(({ weight }) => weight)).toEqual(
      Array(25).fill(2),
    )
  })
})

describe('reinforcement learning', () => {
  it('has the advantages that the trainer computes', async () => {
    const rows = await all<RolloutRow>('rollouts', 100)
    for (const [id, members] of Object.entries(Object.groupBy(rows, ({ groupId }) => groupId))) {
      const [expected] = advantagesOf([members!.map(({ reward }) => reward!)], 'group')
      expect(
        members!.map(({ advantage }) => advantage),
        id,
      ).toEqual(expected)
    }
  })

  it('sums up steps and groups', async () => {
    const steps = await get(studio, 'GET /api/runs/:run/steps', `${path}/steps`)
    expect(steps.rows).toHaveLength(4)
    const own = rollouts.filter(({ groupId }) => groupId.startsWith('rl-2-'))
    expect(steps.rows[1]).toMatchObject({
      step: 2,
      rollouts: own.length,
      groups: 10,
      correct: own.filter(({ verdict }) => verdict?.outcome === 'correct').length,
    })
    const { rows } = await get(studio, 'GET /api/runs/:run/groups', `${path}/groups?step=2&order=-spread`)
    expect(rows).toHaveLength(10)
    expect(rows.map(({ spread }) => spread!)).toEqual(
      rows.map(({ spread }) => spread!).toSorted((one, other) => other - one),
    )
  })

  it('shows where the rollouts of a group diverge', async () => {
    const {
      rollouts: members,
      tree,
      common,
    } = await get(studio, 'GET /api/runs/:run/groups/:id', `${path}/groups/rl-1-4`)
    const tokens = new Map(
      members.map(({ id }) => [id, run.get('rollout', id)!.spans.flatMap((span) => span.tokens ?? [])]),
    )
    const shared = (one: string, other: string): number => {
      const [left, right] = [tokens.get(one)!, tokens.get(other)!]
      const at = left.findIndex((token, place) => token !== right[place])
      return at === -1 ? left.length : at
    }
    const ids = members.map(({ id }) => id)
    expect(common).toBe(Math.min(...ids.flatMap((one) => ids.map((other) => shared(one, other)))))
    for (const { id, diverges } of members) {
      const others = ids.filter((other) => other !== id)
      expect(diverges!.token).toBe(Math.max(...others.map((other) => shared(id, other))))
      expect(shared(id, diverges!.from)).toBe(diverges!.token)
    }
    const leaves = (branch: PrefixBranch): string[] =>
      branch.branches.length === 0 ? branch.rollouts : branch.branches.flatMap(leaves)
    expect(leaves(tree!).sort()).toEqual(ids.toSorted())
  })

  it('sends the tokens of a rollout as columns, with mask, log-probabilities and advantage', async () => {
    const record = run.get('rollout', 'rl-3-3-3')!
    const view = await get(
      studio,
      'GET /api/runs/:run/rollouts/:id/tokens',
      `${path}/rollouts/rl-3-3-3/tokens`,
    )
    expect(view.ids).toEqual(record.spans.flatMap((span) => span.tokens ?? []))
    const masked = record.spans
      .filter(({ kind }) => kind === 'observation')
      .flatMap((span) => span.tokens ?? [])
    expect(view.ids.filter((_, at) => view.mask[at] === 0)).toEqual(masked)
    expect(view.logprobs!.filter((value) => value !== null)).toEqual(
      record.spans.flatMap((span) => span.logprobs ?? []),
    )
    const { rollout } = await get(studio, 'GET /api/runs/:run/rollouts/:id', `${path}/rollouts/rl-3-3-3`)
    expect(new Set(view.advantages)).toEqual(new Set([rollout.advantage, 0]))
    const part = await get(
      studio,
      'GET /api/runs/:run/rollouts/:id/tokens',
      `${path}/rollouts/rl-3-3-3/tokens?from=10&count=7`,
    )
    expect([part.from, part.total, part.ids]).toEqual([10, view.total, view.ids.slice(10, 17)])
  })
})

describe('records', () => {
  it('link spans to the events they were made from, in both directions', async () => {
    const view = await get(studio, 'GET /api/runs/:run/trajectories/:id', `${path}/trajectories/run-7`)
    const chain = await get(studio, 'GET /api/runs/:run/chains/:id', `${path}/chains/distilled-run-7`)
    for (const { event, spans } of view.events.rows)
      for (const { span } of spans) expect(chain.spans[span]!.origin).toEqual({ events: [event.id] })
    expect(view.events.rows.flatMap(({ spans }) => spans)).toHaveLength(chain.spans.length)
    expect(chain.spans.map(({ trained }) => trained)).toEqual(
      chain.spans.map(({ kind }) => kind !== 'observation'),
    )
  })

  it('show the run: stages, figures, settings that differ, and its log', async () => {
    const view = await get(studio, 'GET /api/runs/:run', path)
    expect(view).toMatchObject({
      state: 'interrupted',
      stage: 'rl',
      canResume: true,
      headline: { value: 0.5 },
    })
    expect(view.log.at(-1)).toMatch(/rl: stopped$/)
    const { settings } = await get(studio, 'GET /api/runs/:run/settings', `${path}/settings`)
    expect(settings.filter(({ differs }) => differs)).toEqual([
      { key: 'rl.steps', value: 7, standard: 10, differs: true },
    ])
    const { curves } = await get(
      studio,
      'GET /api/metrics',
      '/api/metrics?runs=small&stage=rl&names=reward_mean,nothing',
    )
    expect(curves).toHaveLength(1)
    expect(curves[0]!.steps).toEqual([1, 2, 3, 4])
  })

  it('that do not exist are not found', async () => {
    for (const missing of [
      'rollouts/x',
      'chains/x',
      'trajectories/x',
      'trajectories/run-1/events/x',
      'tasks/x',
      'groups/x',
      'evals/x',
      'compare/x',
    ])
      expect((await send(studio, `${path}/${missing}`)).status, missing).toBe(404)
  })
})

describe('marks', () => {
  it('are stored in the run and shown with the chain; a later one replaces it', async () => {
    const marks = `${path}/marks`
    const mark = (rating: string, note?: string) =>
      post(studio, marks, {
        kind: 'sequence',
        id: 'distilled-run-2',
        rating,
        ...(note === undefined ? {} : { note }),
      })
    expect((await mark('good', 'clear')).json).toMatchObject({ rating: 'good', note: 'clear', by: 'user' })
    const row = async () =>
      (await get(studio, 'GET /api/runs/:run/chains/:id', `${path}/chains/distilled-run-2`)).row
    expect((await row()).mark).toMatchObject({ rating: 'good', note: 'clear' })
    await mark('bad')
    expect((await row()).mark).toMatchObject({ rating: 'bad' })
    expect((await get(studio, 'GET /api/runs/:run/filter', `${path}/filter`)).marks).toEqual({
      good: 0,
      bad: 1,
    })
    expect((await all('chains?mark=bad', 10)).map((one) => (one as { id: string }).id)).toEqual([
      'distilled-run-2',
    ])
    expect((await mark('none')).json).toBeNull()
    expect((await row()).mark).toBeUndefined()
    expect([...run.scan('mark')].map(({ rating }) => rating)).toEqual(['none'])
    expect((await post(studio, marks, { kind: 'sequence', id: 'missing', rating: 'good' })).status).toBe(404)
  })

  it('are refused while another process writes', async () => {
    using writer = openRun(join(runs, 'small'), { write: true })
    const body = { kind: 'rollout', id: 'rl-1-0-0', rating: 'good' }
    expect((await post(studio, `${path}/marks`, body)).status).toBe(409)
    expect(writer.count('rollout')).toBe(rollouts.length)
  })
})

describe('a run that grows', () => {
  const growing = '/api/runs/growing'

  it('is read while it is written, and its index is made again if it is lost or the log is another', async () => {
    using writer = smallRun(runs, 'growing')
    const total = async (): Promise<number> =>
      (
        await until(
          () => get(studio, 'GET /api/runs/:run/rollouts', `${growing}/rollouts`),
          ({ indexing }) => indexing === undefined,
        )
      ).total!
    expect(await total()).toBe(320)
    const record = rollouts[0]!
    writer.append('rollout', { ...record, id: 'rl-9-0-0', groupId: 'rl-9-0' })
    expect(await total()).toBe(321)
    // The same id again is the same rollout.
    writer.append('rollout', { ...record, id: 'rl-9-0-0', groupId: 'rl-9-0', reward: 4 })
    expect(await total()).toBe(321)
    const { rollout } = await get(studio, 'GET /api/runs/:run/rollouts/:id', `${growing}/rollouts/rl-9-0-0`)
    expect(rollout.reward).toBe(4)
    writeFileSync(join(runs, 'growing', 'studio.sqlite'), 'not a database')
    const other = await studioOn({ runs })
    try {
      expect((await get(other, 'GET /api/runs/:run/rollouts', `${growing}/rollouts`)).total).toBe(321)
    } finally {
      await other.stop()
    }
  })

  it('is shown up to its last complete line', async () => {
    smallRun(runs, 'torn').close()
    const log = join(runs, 'torn', 'events.jsonl')
    const { size } = statSync(log)
    truncateSync(log, size - 40)
    const page = () => get(studio, 'GET /api/runs/:run/rollouts', '/api/runs/torn/rollouts')
    expect((await page()).total).toBe(319)
    appendFileSync(log, 'garbage')
    expect((await page()).total).toBe(319)
  })

  it('says how far it has been read', async () => {
    const dir = smallRun(runs, 'long')
    fillRun(dir, { ...smallSize, rollouts: 4000, tokens: 200 })
    dir.close()
    const other = await studioOn({ runs })
    try {
      const seen: number[] = []
      await until(
        () => get(other, 'GET /api/runs/:run/rollouts', '/api/runs/long/rollouts'),
        ({ indexing, rows }) => {
          if (indexing !== undefined) seen.push(indexing.bytes)
          return indexing === undefined && rows.length > 0
        },
      )
      expect(seen).toEqual(seen.toSorted((one, two) => one - two))
      expect((await get(other, 'GET /api/runs/:run/rollouts', '/api/runs/long/rollouts')).total).toBe(4000)
    } finally {
      await other.stop()
    }
  })
})
