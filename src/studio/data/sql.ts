import type { Row, Value } from './extract.ts'

/** The statements of an index; each is prepared once. */
export interface Sql {
  all<T>(sql: string, ...values: Value[]): T[]
  get<T>(sql: string, ...values: Value[]): T | undefined
  run(sql: string, ...values: Value[]): void
  insert(table: string, row: Row): void
}
