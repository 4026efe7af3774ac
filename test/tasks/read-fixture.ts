import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Task } from '../../src/schema/index.ts'
import { isTask, type ReadOptions, type RowReport, readTasks } from '../../src/tasks/readers/index.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { type ColumnSpec, writeParquetRows } from '../store/support/write-parquet.ts'

type Rows = Record<string, unknown>[]

async function collect(file: string, options: ReadOptions): Promise<{ tasks: Task[]; reports: RowReport[] }> {
  const tasks: Task[] = []
  const reports: RowReport[] = []
  for await (const item of readTasks(file, options)) isTask(item) ? tasks.push(item) : reports.push(item)
  return { tasks, reports }
}

export function read(format: string, rows: Rows, more: Partial<ReadOptions> = {}) {
  const file = join(temporaryFolder(), 'rows.jsonl')
  writeFileSync(file, rows.map((row) => JSON.stringify(row)).join('\n'))
  return collect(file, { format, ...more })
}

export function readText(format: string, name: string, text: string, more: Partial<ReadOptions> = {}) {
  const file = join(temporaryFolder(), name)
  writeFileSync(file, text)
  return collect(file, { format, ...more })
}

export function readParquet(format: string, columns: Record<string, ColumnSpec>, rows: Rows) {
  const file = join(temporaryFolder(), 'rows.parquet')
  writeParquetRows(file, columns, rows)
  return collect(file, { format })
}

export const golds = ({ tasks }: { tasks: Task[] }) => tasks.map(({ gold }) => gold)
export const ids = ({ tasks }: { tasks: Task[] }) => tasks.map(({ id }) => id)
