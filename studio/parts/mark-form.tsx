import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useId, useState } from 'react'
import type { MarkRequest, MarkView } from '../../src/studio/api.ts'
import { post } from '../data/client.ts'
import { queries } from '../data/queries.ts'
import { Problem } from './screen.tsx'

interface MarkFormProps {
  run: string
  kind: 'sequence' | 'rollout'
  id: string
  mark: MarkView | undefined
}

/** What the reader thinks of a chain; the filter can use it. */
export function MarkForm({ run, kind, id, mark }: MarkFormProps): ReactNode {
  const noteId = useId()
  const [note, setNote] = useState(mark?.note ?? '')
  const save = useMutation({
    mutationFn: (rating: MarkRequest['rating']) =>
      post('/api/runs/:run/marks', { run }, { kind, id, rating, ...(note === '' ? {} : { note }) }),
    onSuccess: () =>
      queries.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).includes(':run') }),
  })
  const button = (rating: 'good' | 'bad', text: string): ReactNode => (
    <button
      type="button"
      disabled={save.isPending}
      aria-pressed={mark?.rating === rating}
      onClick={() => save.mutate(mark?.rating === rating && note === (mark.note ?? '') ? 'none' : rating)}
    >
      {text}
    </button>
  )
  return (
    <section className="mark" aria-label="Your mark">
      {button('good', '▲ Good')}
      {button('bad', '▼ Bad')}
      <label htmlFor={noteId}>
        <span className="unseen">Note</span>
        <input
          id={noteId}
          value={note}
          placeholder="why? (optional)"
          onChange={({ target }) => setNote(target.value)}
        />
      </label>
      <small role="status">
        {mark === undefined
          ? 'The filter uses marks: filter.marks.'
          : `Marked ${mark.rating} by ${mark.by}. Press again to withdraw.`}
      </small>
      {save.error !== null && <Problem problem={save.error} />}
    </section>
  )
}
