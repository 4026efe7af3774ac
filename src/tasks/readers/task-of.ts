import { sha256 } from '../../base/digests/index.ts'
import { Task } from '../../schema/index.ts'
import type { TaskDraft } from './format.ts'
import { RowProblem } from './row.ts'

export interface Defaults {
  suite: string
  domain: string
}

/** Turns a draft into a validated task. */
export function taskOf(draft: TaskDraft, defaults: Defaults): Task {
  const suite = draft.suite ?? defaults.suite
  const key = draft.key ?? contentHash(draft.question)
  const parsed = Task.safeParse({
    v: 1,
    // The keys of some files already include the suite.
    id: draft.id ?? (includesSuite(key, suite) ? key : `${suite}:${key}`),
    suite,
    domain: draft.domain ?? defaults.domain,
    split: draft.split,
    question: draft.question,
    gold: draft.gold,
    level: draft.level,
    meta: withoutEmpty(draft.meta ?? {}),
  })
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new RowProblem(`its ${issue?.path.join('.') || 'values'} cannot be used: ${issue?.message}`)
}

const includesSuite = (key: string, suite: string): boolean =>
  [':', '-', '/'].some((mark) => key.startsWith(suite + mark))

/** An id that depends only on the question, not on the order of rows. */
export const contentHash = (question: string): string => sha256(question).slice(0, 16)

const withoutEmpty = (meta: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(meta).filter(
      ([, value]) => value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0),
    ),
  )
