import type { ReactNode } from 'react'
import type { SideRow } from '../../src/studio/api.ts'
import { useEvents } from '../data/all-events.ts'
import { useGet } from '../data/queries.ts'
import { setQuery, useParam } from '../data/url.ts'
import { OutcomeBadge } from '../parts/badges.tsx'
import { EventItem } from '../parts/events.tsx'
import { duration, whole } from '../parts/format.ts'
import { Link } from '../parts/link.tsx'
import { Loaded, Screen, Written } from '../parts/screen.tsx'
import { Spans } from '../parts/spans.tsx'

/** The team's run and the model's on one task. */
export function CompareTaskScreen({ run, task }: { run: string; task: string }): ReactNode {
  const found = useGet('/api/runs/:run/compare/:task', { run, task })
  const [teamId] = useParam('team')
  const [modelId] = useParam('model')
  return (
    <Screen
      title="Team and model"
      over={<Link parts={['runs', run, 'compare']}>Team and model</Link>}
      about={<Link parts={['runs', run, 'tasks', task]}>{task}</Link>}
    >
      <Loaded of={found}>
        {({ row, team, model, chains }) => {
          const left = team.find(({ id }) => id === teamId) ?? row.team
          const right = model.find(({ id }) => id === modelId) ?? row.model
          return (
            <>
              <Question run={run} trajectory={left.id} start={row.question} />
              <Figures left={left} right={right} />
              {chains.length > 0 && (
                <p className="links">
                  {chains.map((chain) => (
                    <Link key={chain} parts={['runs', run, 'both', chain]}>
                      the team’s run and its chain
                    </Link>
                  ))}
                </p>
              )}
              <div className="both plain">
                <section aria-labelledby="left">
                  <h2 id="left">
                    Team <OutcomeBadge outcome={left.outcome} />
                  </h2>
                  <SideChoice name="team" sides={team} chosen={left.id} />
                  <TeamSide run={run} id={left.id} />
                </section>
                <section aria-labelledby="right">
                  <h2 id="right">
                    Model <OutcomeBadge outcome={right.outcome} />
                  </h2>
                  <SideChoice name="model" sides={model} chosen={right.id} />
                  <ModelSide run={run} id={right.id} />
                </section>
              </div>
            </>
          )
        }}
      </Loaded>
    </Screen>
  )
}

/** Rows have only the beginning of a long question. */
function Question({ run, trajectory, start }: { run: string; trajectory: string; start: string }): ReactNode {
  const { found } = useEvents(run, trajectory)
  return <Written className="question" text={found.data?.trajectory.question ?? start} />
}

function Figures({ left, right }: { left: SideRow; right: SideRow }): ReactNode {
  const rows: [string, string, string][] = [
    ['tokens, as billed', whole(left.tokens), whole(right.tokens)],
    ['tool calls', whole(left.calls), whole(right.calls)],
    ['time', duration(left.seconds), duration(right.seconds)],
  ]
  return (
    <table className="small">
      <thead>
        <tr>
          <td />
          <th scope="col">team</th>
          <th scope="col">model</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, team, model]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td className="number">{team}</td>
            <td className="number">{model}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function SideChoice({
  name,
  sides,
  chosen,
}: {
  name: string
  sides: readonly SideRow[]
  chosen: string
}): ReactNode {
  if (sides.length < 2) return null
  return (
    <select
      aria-label={`Which ${name} run`}
      value={chosen}
      onChange={({ target }) => setQuery({ [name]: target.value })}
    >
      {sides.map(({ id, outcome, tokens }) => (
        <option key={id} value={id}>
          {id} · {outcome} · {whole(tokens)} tokens
        </option>
      ))}
    </select>
  )
}

function TeamSide({ run, id }: { run: string; id: string }): ReactNode {
  const { found, events, hasMore, loadMore } = useEvents(run, id)
  const [event] = useParam('event')
  return (
    <div className="pane" tabIndex={0} role="region" aria-label="Events of the team">
      <Link parts={['runs', run, 'team', id]}>Timeline</Link>
      <Loaded of={found}>
        {() => (
          <ol className="turns">
            {events.map((view) => (
              <EventItem
                key={view.event.id}
                run={run}
                trajectory={id}
                view={view}
                isSelected={view.event.id === event}
              />
            ))}
          </ol>
        )}
      </Loaded>
      {hasMore && (
        <button type="button" onClick={loadMore}>
          Show more events
        </button>
      )}
    </div>
  )
}

function ModelSide({ run, id }: { run: string; id: string }): ReactNode {
  const found = useGet('/api/runs/:run/rollouts/:id', { run, id })
  const [span] = useParam('span')
  return (
    <div className="pane" tabIndex={0} role="region" aria-label="What the model wrote">
      <Link parts={['runs', run, 'rollouts', id]}>Rollout</Link>
      <Loaded of={found}>
        {(view) => (
          <Spans
            label="Rollout"
            spans={view.spans}
            selected={span === undefined ? undefined : Number(span)}
          />
        )}
      </Loaded>
    </div>
  )
}
