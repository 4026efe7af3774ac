import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { JobRequest, RunRow } from '../../src/studio/api.ts'
import { post } from '../data/client.ts'
import { queries } from '../data/queries.ts'
import { go, to } from '../data/url.ts'
import { Problem } from './screen.tsx'

/** Starts a job and shows it. */
export function useStart() {
  return useMutation({
    mutationFn: (request: JobRequest) => post('/api/jobs', {}, request),
    onSuccess: (job) => {
      void queries.invalidateQueries({ queryKey: ['/api/jobs'] })
      go(to(['jobs', job.id]))
    },
  })
}

export function useStop() {
  return useMutation({
    mutationFn: (id: string) => post('/api/jobs/:id/stop', { id }, {}),
    onSuccess: (_, id) => {
      void queries.invalidateQueries({ queryKey: ['/api/jobs/:id', { id }] })
      void queries.invalidateQueries({ queryKey: ['/api/runs'] })
    },
  })
}

/** Stop or resume, whichever is possible. */
export function RunActions({ run }: { run: RunRow }): ReactNode {
  const start = useStart()
  const stop = useStop()
  const problem = start.error ?? stop.error
  return (
    <>
      {run.job !== undefined && run.state === 'running' && (
        <button type="button" disabled={stop.isPending} onClick={() => stop.mutate(run.job!)}>
          Stop<span className="unseen"> run {run.id}</span>
        </button>
      )}
      {run.canResume && (
        <button
          type="button"
          disabled={start.isPending}
          onClick={() => start.mutate({ kind: 'resume', run: run.id })}
        >
          Resume<span className="unseen"> run {run.id}</span>
        </button>
      )}
      {problem !== null && <Problem problem={problem} />}
    </>
  )
}
