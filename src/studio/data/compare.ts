import type { CompareRow, CompareView, Page, SideRow } from '../api.ts'
import { page } from './list.ts'
import type { OpenRun } from './open-runs.ts'
import type { Query } from './query.ts'
import { missing } from './records.ts'
import type { RunIndex } from './run-index.ts'

/** Of several tries, the last one: by the model with the most training. */
const from = `task m
  JOIN trajectory a ON a.id = (SELECT id FROM trajectory WHERE taskId = m.id ORDER BY seq DESC LIMIT 1)
  JOIN rollout b ON b.id = (SELECT id FROM rollout WHERE taskId = m.id ORDER BY seq DESC LIMIT 1)`
const sideColumns = (name: 'a' | 'b', tokens: string): string =>
  ['id', 'outcome', 'calls', 'seconds'].map((column) => `${name}.${column} AS ${name}_${column}`).join(', ') +
  `, ${name}.${tokens} AS ${name}_tokens`
const columns = `m.id AS taskId, m.suite, m.question, ${sideColumns('a', 'tokens')}, ${sideColumns('b', 'billed')}`

const differences = {
  disagreements: "(a.outcome = 'correct') <> (b.outcome = 'correct')",
  team: "a.outcome = 'correct' AND b.outcome <> 'correct'",
  model: "a.outcome <> 'correct' AND b.outcome = 'correct'",
} as const

type Flat = Record<string, string | number>

export function compared(index: RunIndex, query: Query): Page<CompareRow> {
  const only = query.choice('only', ['disagreements', 'team', 'model'])
  const found = page<Flat>(index, query, {
    columns,
    from,
    where: [
      ['m.suite = ?', query.text('suite')],
      [only === undefined ? '' : differences[only], only === undefined ? undefined : null],
    ],
  })
  return { ...found, rows: found.rows.map(rowOf) }
}

export function comparison({ index }: OpenRun, taskId: string): CompareView {
  const row = index.get<Flat>(`SELECT ${columns} FROM ${from} WHERE m.id = ?`, taskId)
  if (row === undefined) throw missing('task that both tried', taskId)
  const side = (kind: SideRow['kind'], table: string, tokens: string): SideRow[] =>
    index
      .all<Omit<SideRow, 'kind'>>(
        `SELECT id, outcome, ${tokens} AS tokens, calls, seconds FROM ${table} WHERE taskId = ? ORDER BY seq DESC LIMIT 100`,
        taskId,
      )
      .map((one) => ({ kind, ...one }))
  return {
    row: rowOf(row),
    team: side('trajectory', 'trajectory', 'tokens'),
    model: side('rollout', 'rollout', 'billed'),
    chains: index
      .all<{ id: string }>('SELECT id FROM chain WHERE taskId = ? ORDER BY seq LIMIT 100', taskId)
      .map(({ id }) => id),
  }
}

function rowOf(row: Flat): CompareRow {
  const side = (name: 'a' | 'b', kind: SideRow['kind']): SideRow =>
    ({
      kind,
      ...Object.fromEntries(
        ['id', 'outcome', 'tokens', 'calls', 'seconds'].map((column) => [column, row[`${name}_${column}`]]),
      ),
    }) as unknown as SideRow
  return {
    taskId: String(row['taskId']),
    suite: String(row['suite']),
    question: String(row['question']),
    team: side('a', 'trajectory'),
    model: side('b', 'rollout'),
  }
}
