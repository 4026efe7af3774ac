import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../store/support/temporary-folder.ts'

interface Row {
  question: string
  split?: string
}

/** A file of tasks with these rows. */
export function file(rows: readonly Row[], name = 'mine.jsonl'): string {
  const path = join(temporaryFolder(), name)
  writeFileSync(path, rows.map((row, id) => JSON.stringify({ id, answer: '1', ...row })).join('\n'))
  return path
}

export const marked = (split: string, count: number): Row[] =>
  Array.from({ length: count }, (_, at) => ({ question: `${split} ${at}?`, split }))
