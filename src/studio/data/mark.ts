import { z } from 'zod'
import { MARK_TEXT_LIMIT, Mark, markId } from '../../schema/index.ts'
import { openRun } from '../../store/index.ts'
import type { MarkView } from '../api.ts'
import { Problem } from '../problem.ts'
import type { OpenRuns } from './open-runs.ts'
import { missing } from './records.ts'

/** Who marks. */
const BY = 'user'

const Request = z.strictObject({
  kind: Mark.shape.of.shape.kind,
  id: z.string().min(1).max(1000),
  rating: Mark.shape.rating,
  note: z.string().max(MARK_TEXT_LIMIT).optional(),
})

/** Appends a mark to the log, unless another process is writing it. Null if a mark was withdrawn. */
export function mark(open: OpenRuns, id: string, body: unknown): MarkView | null {
  const { data, error } = Request.safeParse(body)
  if (data === undefined) {
    const issue = error.issues[0]!
    throw new Problem(400, `${issue.path.join('.') || 'the mark'}: ${issue.message}`)
  }
  const { kind, rating, note } = data
  const { run, index } = open.get(id)
  if (!run.has(kind, data.id)) throw missing(kind, data.id)
  const of = { kind, id: data.id }
  const at = new Date().toISOString()
  using writing = openRun(run.dir, { write: true, command: 'coa studio' })
  writing.append('mark', {
    v: 1,
    id: markId({ of, by: BY }),
    of,
    rating,
    by: BY,
    at,
    ...(note === undefined || note === '' ? {} : { note }),
  })
  while (index.advance());
  return rating === 'none'
    ? null
    : { ...of, rating, by: BY, at, ...(note === undefined || note === '' ? {} : { note }) }
}
