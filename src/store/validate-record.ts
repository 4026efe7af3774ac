import type { z } from 'zod'
import { StoreError } from '../base/errors/index.ts'
import { migrate, type RecordKind, type RecordOf, recordKinds, recordSchemas } from '../schema/index.ts'

/** The input of `append`: fields with a default may be omitted. */
export type RecordInput<K extends RecordKind> = z.input<(typeof recordSchemas)[K]>

/** The record in its current version with its defaults, or what is wrong with it in one line. */
export function checkRecord<K extends RecordKind>(
  kind: K,
  record: unknown,
): { record: RecordOf<K> } | { problem: string } {
  const result = recordSchemas[kind].safeParse(migrate(kind, record))
  if (result.success) return { record: result.data as RecordOf<K> }
  const issues = result.error.issues.map((issue) => `${issue.path.join('.') || 'record'}: ${issue.message}`)
  const more = issues.length > 3 ? ` (and ${issues.length - 3} more)` : ''
  return { problem: issues.slice(0, 3).join('; ') + more }
}

export function validateRecord<K extends RecordKind>(kind: K, record: unknown, position = ''): RecordOf<K> {
  checkKind(kind)
  const checked = checkRecord(kind, record)
  if ('problem' in checked) {
    throw new StoreError(`this ${kind}${position} does not match its schema: ${checked.problem}`, {
      fix: `Correct the record; nothing was written. The schema is in src/schema.`,
      details: { kind },
    })
  }
  // SQLite stores UTF-8, where two different lone surrogates become the same character.
  if (!checked.record.id.isWellFormed()) {
    throw new StoreError(`this ${kind}${position} has an id that is not valid Unicode`, {
      fix: 'Use an id without lone surrogates; nothing was written.',
      details: { kind },
    })
  }
  return checked.record
}

export function checkKind(kind: string): asserts kind is RecordKind {
  if (Object.hasOwn(recordSchemas, kind)) return
  throw new StoreError(`unknown record kind ${JSON.stringify(kind)}`, {
    fix: `Use one of ${recordKinds.join(', ')}.`,
  })
}
