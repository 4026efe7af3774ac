import { type ReactNode, useEffect } from 'react'
import { useEvents } from '../data/all-events.ts'
import { setQuery, useFlag, useParam } from '../data/url.ts'
import { OutcomeBadge } from '../parts/badges.tsx'
import { EventItem } from '../parts/events.tsx'
import { Filters, Switch } from '../parts/filters.tsx'
import { duration, visible, whole } from '../parts/format.ts'
import { hueOf } from '../parts/hues.ts'
import { useKeys } from '../parts/keys.tsx'
import { Lanes } from '../parts/lanes.tsx'
import { Link } from '../parts/link.tsx'
import { Facts, Loaded, Screen, Written } from '../parts/screen.tsx'

/** What happened in one run of the team. */
export function TrajectoryScreen({ run, id }: { run: string; id: string }): ReactNode {
  const { found, events, hasMore, loadMore } = useEvents(run, id)
  const [selected] = useParam('event')
  const [agent] = useParam('agent')
  const [byTime, toggleTime] = useFlag('time')
  const shown = agent === undefined ? events : events.filter(({ event }) => event.agent === agent)
  const at = shown.findIndex(({ event }) => event.id === selected)
  const move = (by: number) => () => {
    const next = shown[Math.max(0, Math.min(shown.length - 1, at + by))]
    if (next === undefined) return
    setQuery({ event: next.event.id })
    document.getElementById(`event-${next.event.id}`)?.scrollIntoView({ block: 'nearest' })
  }
  useKeys({ j: move(1), k: move(-1) })
  const isThere = events.length > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the events have come
  useEffect(() => {
    if (selected !== undefined)
      document.getElementById(`event-${selected}`)?.scrollIntoView({ block: 'center' })
  }, [isThere])
  const { data } = found
  return (
    <Screen
      title="Trajectory"
      over={<Link parts={['runs', run, 'team']}>Team</Link>}
      beside={data && <OutcomeBadge outcome={data.trajectory.verdict?.outcome ?? 'unchecked'} />}
      about={<code>{id}</code>}
    >
      <Loaded of={found}>
        {({ trajectory, suite, agents, seconds, chains }) => (
          <>
            <Written className="question" text={trajectory.question} />
            <Facts
              facts={[
                ['answer', trajectory.answer && <bdi key="a">{visible(trajectory.answer)}</bdi>],
                ['checked', trajectory.verdict && visible(trajectory.verdict.evidence)],
                ['team', trajectory.team],
                ['suite', suite],
                [
                  'task',
                  <Link key="t" parts={['runs', run, 'tasks', trajectory.taskId]}>
                    {trajectory.taskId}
                  </Link>,
                ],
                ['time', duration(seconds)],
                [
                  'as a chain',
                  chains.length > 0 && (
                    <span key="c">
                      {chains.map((chain) => (
                        <Link key={chain.id} parts={['runs', run, 'both', chain.id]} className="button">
                          Side by side{chains.length > 1 ? `: ${chain.origin}` : ''}
                        </Link>
                      ))}
                    </span>
                  ),
                ],
              ]}
            />
            <h2>Timeline</h2>
            <Filters>
              <Switch
                label="Order"
                value={byTime ? 'time' : 'order'}
                options={[
                  ['order', 'in order'],
                  ['time', 'by time'],
                ]}
                onChange={(value) => value !== (byTime ? 'time' : 'order') && toggleTime()}
              />
              <span className="key shapes">
                <span>● writes</span>
                <span>│ sends</span>
                <span>■ calls a tool</span>
                <span>□ gets its output</span>
                <span>◆ answers</span>
              </span>
            </Filters>
            <Lanes events={events} selected={selected} byTime={byTime} />
            <Agents agents={agents} chosen={agent} />
            <h2>Events</h2>
            <ol className="turns">
              {shown.map((view) => (
                <EventItem
                  key={view.event.id}
                  run={run}
                  trajectory={id}
                  view={view}
                  isSelected={view.event.id === selected}
                  links={
                    view.spans.length > 0 && (
                      <p className="links">
                        became{' '}
                        {view.spans.map(({ chain, span }) => (
                          <Link
                            key={`${chain} ${span}`}
                            parts={['runs', run, 'both', chain]}
                            query={{ event: view.event.id }}
                          >
                            span {span + 1}
                          </Link>
                        ))}
                      </p>
                    )
                  }
                />
              ))}
            </ol>
            {hasMore && (
              <button type="button" onClick={loadMore}>
                Show more events
              </button>
            )}
          </>
        )}
      </Loaded>
    </Screen>
  )
}

type Agents = NonNullable<ReturnType<typeof useEvents>['found']['data']>['agents']

function Agents({ agents, chosen }: { agents: Agents; chosen: string | undefined }): ReactNode {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Agents">
      <table>
        <thead>
          <tr>
            <th scope="col">agent</th>
            <th scope="col">requests</th>
            <th scope="col">prompt tokens</th>
            <th scope="col">written tokens</th>
            <th scope="col">tool calls</th>
            <th scope="col">at work</th>
          </tr>
        </thead>
        <tbody>
          {agents.map((use) => (
            <tr key={use.agent}>
              <th scope="row">
                <button
                  type="button"
                  className="link"
                  aria-pressed={chosen === use.agent}
                  title="Show only events of this agent"
                  onClick={() => setQuery({ agent: chosen === use.agent ? undefined : use.agent })}
                >
                  <span className={`agent ${hueOf(use.agent)}`}>{use.agent}</span>
                  {chosen === use.agent && ' ✓ only these events'}
                </button>
              </th>
              <td>{use.requests}</td>
              <td>{whole(use.promptTokens)}</td>
              <td>{whole(use.completionTokens)}</td>
              <td>{use.calls}</td>
              <td>
                {duration(use.firstAt / 1000)} – {duration(use.lastAt / 1000)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
