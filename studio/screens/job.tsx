import { type ReactNode, useEffect, useRef } from 'react'
import type { JobView } from '../../src/studio/api.ts'
import { useGet } from '../data/queries.ts'
import { useStop } from '../parts/actions.tsx'
import { StateBadge } from '../parts/badges.tsx'
import { visible, when } from '../parts/format.ts'
import { Link } from '../parts/link.tsx'
import { LiveChain } from '../parts/live-chain.tsx'
import { Facts, Loaded, Problem, Screen, Written } from '../parts/screen.tsx'

/** One job: what it prints, or the chain that a model is writing. */
export function JobScreen({ id, canAct }: { id: string; canAct: boolean }): ReactNode {
  const found = useGet('/api/jobs/:id', { id })
  const stop = useStop()
  const { data } = found
  return (
    <Screen
      title={data?.title ?? 'Job'}
      over={<Link parts={['jobs']}>Jobs</Link>}
      beside={
        data && (
          <span className="actions">
            <StateBadge state={data.state} />
            {canAct && (data.state === 'running' || data.state === 'stopping') && (
              <button type="button" disabled={stop.isPending} onClick={() => stop.mutate(id)}>
                {data.state === 'stopping' ? 'End it at once' : 'Stop'}
              </button>
            )}
            {data.run !== undefined && (
              <Link parts={['runs', data.run]} className="button">
                Its run
              </Link>
            )}
          </span>
        )
      }
    >
      {stop.error !== null && <Problem problem={stop.error} />}
      <Loaded of={found}>{(job) => <Job job={job} />}</Loaded>
    </Screen>
  )
}

function Job({ job }: { job: JobView }): ReactNode {
  const { request, chain, output } = job
  return (
    <>
      {request.kind === 'ask' && <Written className="question" text={request.question} />}
      <Facts
        facts={[
          ['started', when(job.startedAt)],
          ['ended', when(job.endedAt)],
          ['exit code', job.state === 'done' ? undefined : job.exitCode],
          ['command', <code key="command">{job.command}</code>],
        ]}
      />
      {request.kind === 'ask' && <LiveChain messages={chain ?? []} isRunning={job.state === 'running'} />}
      {(output.length > 0 || request.kind !== 'ask') && <Output lines={output} />}
    </>
  )
}

function Output({ lines }: { lines: readonly string[] }): ReactNode {
  const box = useRef<HTMLPreElement>(null)
  const follows = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever there are more lines
  useEffect(() => {
    if (box.current && follows.current) box.current.scrollTop = box.current.scrollHeight
  }, [lines])
  return (
    <section aria-labelledby="output">
      <h2 id="output">Output</h2>
      <pre
        className="log tall"
        ref={box}
        tabIndex={0}
        role="log"
        aria-labelledby="output"
        onScroll={({ currentTarget: pre }) => {
          follows.current = pre.scrollTop + pre.clientHeight > pre.scrollHeight - 40
        }}
      >
        {lines.length === 0 ? 'Nothing yet.' : visible(lines.join('\n'))}
      </pre>
    </section>
  )
}
