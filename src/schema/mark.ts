import { z } from 'zod'
import { Verdict } from './verdict.ts'

/** Characters of a note, and of a right answer. */
export const MARK_TEXT_LIMIT = 10_000

/**
 * What a person or a program thinks of a chain: good or bad, and why. The filter drops sequences marked bad and prefers those
 * marked good. A mark of a rollout also counts for the sequence made from it, which has the same id.
 */
export const Mark = z.object({
  v: z.literal(1),
  /** See `markId`. */
  id: z.string().min(1),
  of: z.object({ kind: z.enum(['rollout', 'sequence']), id: z.string().min(1) }),
  /** `none`: an earlier mark is withdrawn, or the verdict is undecided. */
  rating: z.enum(['good', 'bad', 'none']),
  note: z.string().max(MARK_TEXT_LIMIT).optional(),
  /** Who or what marked it: `user`, or the name of a checker. */
  by: z.string().min(1).max(200),
  at: z.iso.datetime(),
  /** Of the checker that marked it. */
  verdict: Verdict.optional(),
  /** The right answer to the question, if whoever marked it knows. */
  answer: z.string().min(1).max(MARK_TEXT_LIMIT).optional(),
})
export type Mark = z.infer<typeof Mark>

/** A later mark of the same record by the same person or program replaces the earlier one. */
export function markId({ of, by }: Pick<Mark, 'of' | 'by'>): string {
  return `${of.kind} ${of.id} ${by}`
}

/** The mark that counts for each record, by the record's id: the latest. */
export function latestMarks(marks: Iterable<Mark>): Map<string, Mark> {
  const latest = new Map<string, Mark>()
  for (const mark of marks) {
    const before = latest.get(mark.of.id)
    if (before === undefined || before.at <= mark.at) latest.set(mark.of.id, mark)
  }
  return latest
}
