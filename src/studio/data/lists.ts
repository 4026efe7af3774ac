import type {
  AttemptRow,
  ChainRow,
  GroupRow,
  MarkView,
  Outcome,
  Page,
  RolloutRow,
  StepRow,
  Stop,
  TaskRow,
  TrajectoryRow,
} from '../api.ts'
import type { Value } from './extract.ts'
import { containing, page, withoutNulls } from './list.ts'
import type { Query } from './query.ts'
import type { RunIndex } from './run-index.ts'

const outcomes = ['correct', 'wrong', 'undecided', 'unchecked'] as const satisfies readonly Outcome[]
const stops = [
  'answer',
  'turns',
  'tokens',
  'time',
  'repetition',
  'context',
  'end',
  'failed',
] as const satisfies readonly Stop[]

/** Rows that have the text somewhere; all of the columns have to be text. */
function search(query: Query, ...columns: string[]): [string, Value | undefined] {
  const text = columns.map((column) => `coalesce(m.${column}, '')`).join(" || ' ' || ")
  return [`(${text}) LIKE ? ESCAPE '\\'`, containing(query.text('search'))]
}

export function tasks(index: RunIndex, query: Query): Page<TaskRow> {
  const count = (table: string): string => `(SELECT count(*) FROM ${table} WHERE taskId = m.id)`
  return page(index, query, {
    columns: `m.id, m.suite, m.domain, m.split, m.level, m.question, ${count('trajectory')} AS trajectories,
      ${count('chain')} AS sequences, ${count('rollout')} AS rollouts, ${count('attempt')} AS attempts`,
    from: 'task m',
    where: [
      ['m.suite = ?', query.text('suite')],
      ['m.split = ?', query.text('split')],
      search(query, 'id', 'question'),
    ],
  })
}

const trajectoryColumns =
  'm.id, m.taskId, m.suite, m.team, m.outcome, m.question, m.answer, m.events, m.agents, m.calls, m.tokens, m.seconds'

export function trajectories(index: RunIndex, query: Query): Page<TrajectoryRow> {
  return page(index, query, {
    columns: trajectoryColumns,
    from: 'trajectory m',
    where: [
      ['m.outcome = ?', query.choice('outcome', outcomes)],
      ['m.suite = ?', query.text('suite')],
      ['m.taskId = ?', query.text('task')],
      search(query, 'id', 'question', 'answer'),
    ],
  })
}

const chainColumns = `m.id, m.taskId, m.trajectoryId, m.suite, m.grammar, m.origin, m.outcome, m.question, m.spans, m.calls, m.characters,
  d.kept, d.weight, d.stage, d.reason, d.detail, ${markColumns('sequence')}`
const chainTables = 'chain m LEFT JOIN decision d ON d.id = m.id'

/** Of several marks, the latest counts; see `latestMarks`. */
function markColumns(kind: 'sequence' | 'rollout'): string {
  return `(SELECT json_object('kind', recordKind, 'id', recordId, 'rating', rating, 'note', note, 'by', by, 'at', at) FROM mark
    WHERE recordId = m.id AND recordKind = '${kind}' ORDER BY at DESC, mark.seq DESC LIMIT 1) AS mark`
}

type Flat = Omit<ChainRow, 'kept' | 'dropped' | 'mark'> & {
  kept?: number
  stage?: string
  reason?: string
  detail?: string
  mark?: string
}

function chainRow({ kept, stage, reason, detail, mark, weight, ...row }: Flat): ChainRow {
  return {
    ...row,
    ...(kept === undefined ? {} : { kept: kept === 1 }),
    ...(weight === undefined ? {} : { weight }),
    ...(stage === undefined ? {} : { dropped: { stage, reason: reason ?? '', detail: detail ?? '' } }),
    ...marked(mark),
  }
}

function marked(json: string | undefined): { mark?: MarkView } {
  if (json === undefined) return {}
  const mark = withoutNulls(JSON.parse(json)) as Omit<MarkView, 'rating'> & {
    rating: MarkView['rating'] | 'none'
  }
  const { rating } = mark
  return rating === 'none' ? {} : { mark: { ...mark, rating } }
}

export function chains(index: RunIndex, query: Query): Page<ChainRow> {
  const kept = query.choice('kept', ['true', 'false'])
  const rating = query.choice('mark', ['good', 'bad'])
  const found = page<Flat>(index, query, {
    columns: chainColumns,
    from: chainTables,
    where: [
      ['d.kept = ?', kept === undefined ? undefined : kept === 'true' ? 1 : 0],
      ['d.stage = ?', query.text('stage')],
      ['d.reason = ?', query.text('reason')],
      [
        "(SELECT rating FROM mark WHERE recordId = m.id AND recordKind = 'sequence' ORDER BY at DESC LIMIT 1) = ?",
        rating,
      ],
      ['m.outcome = ?', query.choice('outcome', outcomes)],
      ['m.suite = ?', query.text('suite')],
      ['m.taskId = ?', query.text('task')],
      search(query, 'id', 'question'),
    ],
  })
  return { ...found, rows: found.rows.map(chainRow) }
}

export function chainsWhere(
  index: RunIndex,
  column: 'id' | 'taskId' | 'trajectoryId',
  value: string,
): ChainRow[] {
  const sql = `SELECT ${chainColumns} FROM ${chainTables} WHERE m.${column} = ? ORDER BY m.seq LIMIT 100`
  return index.all<Flat>(sql, value).map((row) => chainRow(withoutNulls(row)))
}

export function trajectoriesOf(index: RunIndex, taskId: string): TrajectoryRow[] {
  return rows(
    index,
    `SELECT ${trajectoryColumns} FROM trajectory m WHERE taskId = ? ORDER BY seq LIMIT 100`,
    taskId,
  )
}

export function attemptsAt(index: RunIndex, taskId: string): AttemptRow[] {
  const sql = `SELECT id, solver, outcome, attempt, answer, tokens, calls, seconds, failure, sourceKind, sourceId FROM attempt
    WHERE taskId = ? ORDER BY seq LIMIT 100`
  type Stored = AttemptRow & { sourceKind?: 'rollout' | 'trajectory'; sourceId?: string }
  return rows<Stored>(index, sql, taskId).map(({ sourceKind: kind, sourceId: id, ...row }) => ({
    ...row,
    ...(kind === undefined || id === undefined ? {} : { source: { kind, id } }),
  }))
}

const rolloutColumns = `m.id, m.taskId, m.groupId, m.suite, m.step, m.checkpoint, m.outcome, m.reward, m.advantage, m.stop,
  m.wellFormed, m.calls, m.tokens, m.toolTokens, m.seconds, m.answer, m.failure, ${markColumns('rollout')}`

type FlatRollout = Omit<RolloutRow, 'wellFormed' | 'mark'> & { wellFormed: number; mark?: string }

function rolloutRow({ wellFormed, mark, ...row }: FlatRollout): RolloutRow {
  return { ...row, wellFormed: wellFormed === 1, ...marked(mark) }
}

const rolloutOrders = [
  'log',
  '-log',
  'reward',
  '-reward',
  'advantage',
  '-advantage',
  'tokens',
  '-tokens',
] as const

/** Those without a reward or an advantage are left out of lists sorted by it. */
export function rollouts(index: RunIndex, query: Query): Page<RolloutRow> {
  const order = query.choice('order', rolloutOrders) ?? 'log'
  const by = order.replace('-', '')
  const found = page<FlatRollout>(index, query, {
    columns: rolloutColumns,
    from: 'rollout m',
    ...(by === 'log' ? {} : { by: `m.${by}` }),
    descending: order.startsWith('-'),
    where: [
      [`m.${by} IS NOT NULL`, by === 'log' ? undefined : null],
      ['m.step = ?', query.whole('step')],
      ['m.groupId = ?', query.text('group')],
      ['m.taskId = ?', query.text('task')],
      ['m.suite = ?', query.text('suite')],
      ['m.checkpoint = ?', query.text('checkpoint')],
      ['m.outcome = ?', query.choice('outcome', outcomes)],
      ['m.stop = ?', query.choice('stop', stops)],
      search(query, 'id', 'taskId', 'answer'),
    ],
  })
  return { ...found, rows: found.rows.map(rolloutRow) }
}

export function rolloutsWhere(
  index: RunIndex,
  column: 'id' | 'taskId' | 'groupId',
  value: string,
  limit = 100,
): RolloutRow[] {
  const sql = `SELECT ${rolloutColumns} FROM rollout m WHERE m.${column} = ? ORDER BY m.seq LIMIT ${limit}`
  return rows<FlatRollout>(index, sql, value).map(rolloutRow)
}

export function latestRollouts(index: RunIndex, after: number, limit: number): RolloutRow[] {
  const sql = `SELECT ${rolloutColumns} FROM rollout m WHERE m.seq > ? ORDER BY m.seq DESC LIMIT ?`
  return rows<FlatRollout>(index, sql, after, limit).map(rolloutRow)
}

const groupColumns = `m.id, m.step, m.taskId, m.suite, m.rollouts, m.correct, m.reward AS meanReward, m.spread,
  coalesce(t.question, '') AS question`
const groupTables = 'grp m LEFT JOIN task t ON t.id = m.taskId'
const groupOrders = ['log', '-log', 'reward', '-reward', 'spread', '-spread'] as const

export function groups(index: RunIndex, query: Query): Page<GroupRow> {
  const order = query.choice('order', groupOrders) ?? 'log'
  const by = order.replace('-', '')
  return page(index, query, {
    columns: groupColumns,
    from: groupTables,
    ...(by === 'log' ? {} : { by: `m.${by}` }),
    descending: order.startsWith('-'),
    where: [
      [`m.${by} IS NOT NULL`, by === 'log' ? undefined : null],
      ['m.step = ?', query.whole('step')],
      ['m.suite = ?', query.text('suite')],
      ['m.taskId = ?', query.text('task')],
    ],
  })
}

export function groupOf(index: RunIndex, id: string): GroupRow | undefined {
  return rows<GroupRow>(index, `SELECT ${groupColumns} FROM ${groupTables} WHERE m.id = ?`, id)[0]
}

export function steps(index: RunIndex, query: Query): Page<StepRow> {
  const order = query.choice('order', ['step', '-step']) ?? 'step'
  const found = page<Omit<StepRow, 'stops'> & { stops: string }>(index, query, {
    columns: 'm.step, rollouts, groups, equalGroups, meanReward, correct, meanTokens, meanCalls, stops',
    from: '(SELECT *, step AS seq FROM step) m',
    descending: order === '-step',
  })
  return { ...found, rows: found.rows.map((row) => ({ ...row, stops: JSON.parse(row.stops) })) }
}

export function marks(index: RunIndex, query: Query): Page<MarkView> {
  return page(index, query, {
    columns: 'm.recordKind AS kind, m.recordId AS id, m.rating, m.note, m.by, m.at',
    from: 'mark m',
    where: [["m.rating <> 'none'", null]],
    descending: true,
  })
}

function rows<Row extends object>(index: RunIndex, sql: string, ...values: Value[]): Row[] {
  return index.all<Row>(sql, ...values).map(withoutNulls)
}
