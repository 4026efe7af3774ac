import { useQuery } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import type { Session } from '../../src/studio/api.ts'
import { get } from '../data/client.ts'
import { useRows } from '../data/queries.ts'
import { setQuery, useParam } from '../data/url.ts'
import { useStart } from '../parts/actions.tsx'
import { Empty, Problem, Screen } from '../parts/screen.tsx'

const DEFAULT_GRAMMAR = 'math'
const GRAMMARS = ['math', 'code', 'multihop', 'web', 'open']
const EXAMPLE = 'A baker bakes 12 loaves in the morning and 30 in the evening. How many loaves is that?'

/** A question to a model of a run; its chain is shown while it is written. */
export function AskScreen({ session }: { session: Session | undefined }): ReactNode {
  const [run] = useParam('run')
  const [checkpoint] = useParam('checkpoint')
  const [grammar] = useParam('grammar')
  const [question, setQuestion] = useState('')
  const runs = useRows('/api/runs', {})
  const checkpoints = useQuery({
    queryKey: ['/api/runs/:run/checkpoints', { run }, { ask: true }],
    queryFn: () => get('/api/runs/:run/checkpoints', { run: run! }),
    enabled: run !== undefined,
  })
  const start = useStart()
  const ids = { question: useId(), run: useId(), checkpoint: useId(), grammar: useId() }
  const usable = (checkpoints.data?.rows ?? []).filter((each) => each.usable)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    start.mutate({
      kind: 'ask',
      question: question.trim(),
      ...(run === undefined ? {} : { run }),
      ...(checkpoint === undefined ? {} : { checkpoint }),
      // The bundled model knows no tools of its own; mathematics needs none that has to be set up.
      ...(grammar === undefined && run !== undefined ? {} : { grammar: grammar ?? DEFAULT_GRAMMAR }),
    })
  }
  if (session?.readOnly === true)
    return (
      <Screen title="Ask">
        <Empty run="coa studio">This studio is read-only. One that can ask models:</Empty>
      </Screen>
    )
  return (
    <Screen title="Ask" about="one model in every role, with live tools">
      <form className="ask" onSubmit={submit}>
        <div className="filters">
          <label htmlFor={ids.run}>
            <span>Run</span>
            <select
              id={ids.run}
              value={run ?? ''}
              onChange={({ target }) => setQuery({ run: target.value, checkpoint: undefined })}
            >
              <option value="">none: the bundled model</option>
              {runs.rows.map(({ id }) => (
                <option key={id}>{id}</option>
              ))}
            </select>
          </label>
          {run !== undefined && (
            <label htmlFor={ids.checkpoint}>
              <span>Checkpoint</span>
              <select
                id={ids.checkpoint}
                value={checkpoint ?? ''}
                onChange={({ target }) => setQuery({ checkpoint: target.value })}
              >
                <option value="">the newest</option>
                {usable.map(({ id }) => (
                  <option key={id}>{id}</option>
                ))}
              </select>
            </label>
          )}
          <label htmlFor={ids.grammar}>
            <span>Grammar</span>
            <select
              id={ids.grammar}
              value={grammar ?? ''}
              onChange={({ target }) => setQuery({ grammar: target.value })}
            >
              <option value="">{run === undefined ? DEFAULT_GRAMMAR : 'the one it was trained with'}</option>
              {GRAMMARS.filter((name) => run !== undefined || name !== DEFAULT_GRAMMAR).map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        </div>
        <label htmlFor={ids.question}>Question</label>
        <textarea
          id={ids.question}
          rows={4}
          value={question}
          placeholder={EXAMPLE}
          onChange={({ target }) => setQuestion(target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
              event.currentTarget.form?.requestSubmit()
          }}
        />
        <div className="go">
          <button type="submit" className="primary" disabled={start.isPending || question.trim() === ''}>
            Ask
          </button>
          <button type="button" className="quiet" onClick={() => setQuestion(EXAMPLE)}>
            Use an example
          </button>
        </div>
        {start.error !== null && <Problem problem={start.error} />}
      </form>
    </Screen>
  )
}
