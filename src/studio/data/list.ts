import type { Page } from '../api.ts'
import type { Value } from './extract.ts'
import { cursorOf, type Query } from './query.ts'
import type { RunIndex } from './run-index.ts'

export interface ListSpec {
  columns: string
  /** The table of the rows is `m`, and has a column `seq`. */
  from: string
  /** Conditions with their values; undefined ones are left out. */
  where?: readonly (readonly [sql: string, value: Value | undefined])[]
  /** Sorted by a column that is never null among the rows, then by `seq`; by `seq` alone if undefined. */
  by?: string
  descending?: boolean
}

/** One page of rows, found by where the page before ended: its time does not depend on how far down the list it is. */
export function page<Row extends object>(index: RunIndex, query: Query, spec: ListSpec): Page<Row> {
  const { columns, from, by, descending = false } = spec
  const where = [...(spec.where ?? [])].filter((one): one is [string, Value] => one[1] !== undefined)
  const { cursor, limit } = query
  const sign = descending ? '<' : '>'
  const conditions = where.map(([sql]) => sql)
  const values = where.map(([, value]) => value)
  const total =
    cursor === undefined
      ? index.get<{ n: number }>(`SELECT count(*) AS n FROM ${from}${clause(conditions)}`, ...used(where))!.n
      : undefined
  if (cursor !== undefined) {
    conditions.push(by === undefined ? `m.seq ${sign} ?` : `(${by}, m.seq) ${sign} (?, ?)`)
    values.push(...cursor.slice(0, by === undefined ? 1 : 2))
  }
  const direction = descending ? 'DESC' : 'ASC'
  const order = by === undefined ? `m.seq ${direction}` : `${by} ${direction}, m.seq ${direction}`
  const found = index.all<Row & { pageSeq: number; pageKey: Value }>(
    `SELECT ${columns}, m.seq AS pageSeq, ${by ?? 'NULL'} AS pageKey FROM ${from}${clause(conditions)} ORDER BY ${order} LIMIT ?`,
    ...values.filter((value) => value !== null),
    limit + 1,
  )
  const last = found[limit - 1]
  const next =
    found.length <= limit || last === undefined
      ? undefined
      : by === undefined
        ? cursorOf(last.pageSeq)
        : cursorOf(last.pageKey, last.pageSeq)
  const indexing = index.indexing()
  return {
    rows: found.slice(0, limit).map(({ pageSeq: _, pageKey: __, ...row }) => withoutNulls(row) as Row),
    ...(next === undefined ? {} : { next }),
    ...(total === undefined ? {} : { total }),
    ...(indexing === undefined ? {} : { indexing }),
  }
}

/** A condition without a value of its own has null. */
const used = (where: readonly (readonly [string, Value])[]): Value[] =>
  where.flatMap(([, value]) => (value === null ? [] : [value]))

const clause = (conditions: readonly string[]): string =>
  conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`

export function withoutNulls<Row extends object>(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Row
}

/** For LIKE with ESCAPE '\': rows that contain the text. */
export function containing(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`
}
