import { statSync } from 'node:fs'
import { selectionFiles } from '../../stages/filter/selection-files.ts'
import { readJsonLines } from '../../store/index.ts'
import type { Sql } from './sql.ts'

interface Line {
  id: string
  weight?: number
  stage?: string
  reason?: string
  detail?: string
}

/** What the filter decided on each sequence, from its files. */
export class DecisionFiles {
  readonly #index: Sql
  readonly #files: { kept: string; dropped: string }

  constructor(index: Sql, dir: string) {
    this.#index = index
    this.#files = selectionFiles(dir)
  }

  /** Reads them again if they have changed. Within a transaction. */
  update(): void {
    const now = `${stamp(this.#files.kept)} ${stamp(this.#files.dropped)}`
    const before = this.#index.get<{ filter: string }>('SELECT filter FROM progress')!.filter
    if (before === now) return
    this.#index.run('DELETE FROM decision')
    try {
      this.#read(this.#files.kept, ({ id, weight = 1 }) => ({ id, kept: 1, weight }))
      this.#read(this.#files.dropped, ({ id, stage = '', reason = '', detail = '' }) => ({
        id,
        kept: 0,
        stage,
        reason,
        detail: detail.slice(0, 500).toWellFormed(),
      }))
    } catch {
      // Damaged: `coa run verify` says so. What could be read is shown.
    }
    this.#index.run('UPDATE progress SET filter = ?', now)
  }

  #read(file: string, rowOf: (line: Line) => Record<string, string | number>): void {
    if (stamp(file) === '') return
    for (const { value } of readJsonLines(file)) this.#index.insert('decision', rowOf(value as Line))
  }
}

/** The folder is replaced as a whole, so the inode changes as well. */
function stamp(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat === undefined ? '' : `${stat.ino}:${stat.size}:${stat.mtimeMs}`
}
