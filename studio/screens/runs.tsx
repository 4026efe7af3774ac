import { type ReactNode, useState } from 'react'
import type { RunRow, Session } from '../../src/studio/api.ts'
import { useRows } from '../data/queries.ts'
import { go, setQuery, to, usePlace } from '../data/url.ts'
import { RunActions } from '../parts/actions.tsx'
import { figureText, StateBadge } from '../parts/badges.tsx'
import { bytes, percent, when } from '../parts/format.ts'
import { useKeys } from '../parts/keys.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Loading, Problem, Screen } from '../parts/screen.tsx'

/** All runs, newest first. */
export function RunsScreen({ session }: { session: Session | undefined }): ReactNode {
  const list = useRows('/api/runs', {})
  const canAct = session?.readOnly === false
  const [chosen, setChosen] = useState<readonly string[]>([])
  const curves = to(['curves'], { runs: chosen.map(encodeURIComponent).join(',') })
  useRowKeys(list.rows)
  return (
    <Screen
      title="Runs"
      about={session && <>in {session.runs}</>}
      beside={
        <span className="actions">
          {chosen.length > 0 && (
            <a className="button" href={curves}>
              Curves of {chosen.length === 1 ? 'this run' : `these ${chosen.length}`}
            </a>
          )}
          {canAct && (
            <a className="button primary" href={to(['new'])}>
              Start a run
            </a>
          )}
        </span>
      }
    >
      {list.problem !== null ? (
        <Problem problem={list.problem} />
      ) : list.isLoading ? (
        <Loading />
      ) : list.rows.length === 0 ? (
        <Empty run="coa quickstart --fast">
          There are no runs yet. This command makes one in a few minutes, from tasks to a comparison of team
          and model:
        </Empty>
      ) : (
        <ul className="runs" aria-label="Runs">
          {list.rows.map((run) => (
            <RunCard
              key={run.id}
              run={run}
              canAct={canAct}
              isChosen={chosen.includes(run.id)}
              choose={() =>
                setChosen((old) =>
                  old.includes(run.id) ? old.filter((id) => id !== run.id) : [...old, run.id],
                )
              }
            />
          ))}
        </ul>
      )}
      {list.hasMore && (
        <button type="button" onClick={list.loadMore}>
          Show more runs
        </button>
      )}
    </Screen>
  )
}

/** Rows are cards here, and few. */
function useRowKeys(rows: readonly RunRow[]): void {
  const { query } = usePlace()
  const at = rows.findIndex(({ id }) => id === query.get('at'))
  const move = (by: number) => () => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, at + by))]
    if (row === undefined) return
    setQuery({ at: row.id })
    document.getElementById(`run-${row.id}`)?.focus()
  }
  useKeys({
    j: move(1),
    k: move(-1),
    ...(at >= 0 ? { o: () => go(to(['runs', rows[at]!.id])) } : {}),
  })
}

interface RunCardProps {
  run: RunRow
  canAct: boolean
  isChosen: boolean
  choose: () => void
}

const kinds = [
  ['trajectory', 'team runs'],
  ['sequence', 'chains'],
  ['rollout', 'rollouts'],
  ['checkpoint', 'checkpoints'],
] as const

function RunCard({ run, canAct, isChosen, choose }: RunCardProps): ReactNode {
  const { id, state, command, createdAt, stage, counts, headline } = run
  return (
    <li className={`run-card ${state}`}>
      <div className="who">
        <h2>
          <a id={`run-${id}`} href={to(['runs', id])}>
            {id}
          </a>{' '}
          <StateBadge state={state} />
          {stage !== undefined && <small> {state === 'running' ? `in ${stage}` : `at ${stage}`}</small>}
        </h2>
        <p>
          {command !== undefined && <code>{command}</code>} <small>{when(createdAt)}</small>
        </p>
        <p className="counts">
          {kinds.map(([kind, label]) =>
            counts?.[kind] ? (
              <span key={kind}>
                {counts[kind].toLocaleString('en-US')} <small>{label}</small>
              </span>
            ) : null,
          )}
          <span>
            {bytes(run.bytes)} <small>on disk</small>
          </span>
        </p>
        {run.problem !== undefined && <p className="bad">{run.problem}</p>}
      </div>
      {headline !== undefined && (
        <p className="headline">
          <b>{figureText(headline)}</b>
          <small>
            {headline.label}
            {headline.low !== undefined && headline.high !== undefined && headline.unit === 'share'
              ? `, ${percent(headline.low)}–${percent(headline.high)}`
              : ''}
          </small>
        </p>
      )}
      <div className="actions">
        <label className="check">
          <input type="checkbox" checked={isChosen} onChange={choose} />
          <span>
            overlay<span className="unseen"> the curves of {id}</span>
          </span>
        </label>
        {run.job !== undefined && <Link parts={['jobs', run.job]}>job</Link>}
        {canAct && <RunActions run={run} />}
      </div>
    </li>
  )
}
