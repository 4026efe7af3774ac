import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import type { ChainView, EventView } from '../../src/studio/api.ts'
import { useEvents } from '../data/all-events.ts'
import { useGet } from '../data/queries.ts'
import { questionOf } from '../data/question.ts'
import { setQuery, useFlag, useParam } from '../data/url.ts'
import { OutcomeBadge } from '../parts/badges.tsx'
import { Connectors } from '../parts/connectors.tsx'
import { EventItem, eventName } from '../parts/events.tsx'
import { Filters } from '../parts/filters.tsx'
import { useKeys } from '../parts/keys.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Loaded, Screen, Written } from '../parts/screen.tsx'
import { agentName, Spans } from '../parts/spans.tsx'

/** The team's run and the chain made of it, with links from span to source event and back. */
export function BothScreen({ run, id }: { run: string; id: string }): ReactNode {
  const found = useGet('/api/runs/:run/chains/:id', { run, id })
  const trajectory = found.data?.row.trajectoryId
  return (
    <Screen
      title="Side by side"
      over={<Link parts={['runs', run, 'chains', id]}>Chain</Link>}
      beside={found.data && <OutcomeBadge outcome={found.data.row.outcome} />}
      about={
        <>
          left: what the team did; right: the single stream made from it. <kbd>[</kbd> and <kbd>]</kbd> step
          through the spans.
        </>
      }
    >
      <Loaded of={found}>
        {(chain) =>
          trajectory === undefined ? (
            <Empty>This chain was not made from a trajectory of this run.</Empty>
          ) : (
            <Both run={run} chain={chain} trajectory={trajectory} />
          )
        }
      </Loaded>
    </Screen>
  )
}

interface BothProps {
  run: string
  chain: ChainView
  trajectory: string
}

function Both({ run, chain, trajectory }: BothProps): ReactNode {
  const { found, events, hasMore, loadMore } = useEvents(run, trajectory)
  const [span] = useParam('span')
  const [event] = useParam('event')
  const [sourcesOnly, toggleSources] = useFlag('sources')
  const box = useRef<HTMLDivElement>(null)
  const { eventsOf, spansOf } = useMemo(() => linksBetween(chain), [chain])
  const byId = useMemo(() => new Map(events.map((view) => [view.event.id, view])), [events])
  const spanAt = span === undefined ? undefined : Number(span)
  const linkedEvents = new Set(spanAt === undefined ? [] : (eventsOf.get(spanAt) ?? []))
  const linkedSpans = new Set(event === undefined ? [] : (spansOf.get(event) ?? []))
  const pairs =
    spanAt !== undefined
      ? [...linkedEvents].map((source) => [`event-${source}`, `span-${spanAt}`] as const)
      : [...linkedSpans].map((made) => [`event-${event}`, `span-${made}`] as const)
  const shown = sourcesOnly
    ? events.filter((view) => spansOf.has(view.event.id) || view.event.id === event)
    : events

  const sourced = chain.spans.filter(({ index }) => (eventsOf.get(index) ?? []).length > 0)
  const move = (by: number) => () => {
    const from = spanAt ?? [...linkedSpans][0] ?? -1
    const next =
      by > 0 ? sourced.find(({ index }) => index > from) : sourced.findLast(({ index }) => index < from)
    if (next !== undefined) setQuery({ span: next.index, event: undefined })
  }
  useKeys({ ']': move(1), '[': move(-1) })

  // Both panes show what belongs together.
  const isThere = events.length > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever something else is chosen
  useEffect(() => {
    const chosen =
      spanAt !== undefined ? `span-${spanAt}` : event !== undefined ? `event-${event}` : undefined
    const others =
      spanAt !== undefined
        ? [...linkedEvents].map((one) => `event-${one}`)
        : [...linkedSpans].map((one) => `span-${one}`)
    for (const target of [chosen, others[0]]) if (target !== undefined) showInPane(target)
  }, [span, event, isThere, sourcesOnly])

  return (
    <>
      <Written className="question" text={found.data?.trajectory.question ?? questionOf(chain)} />
      <Filters>
        <label className="check">
          <input type="checkbox" checked={sourcesOnly} onChange={toggleSources} />
          <span>
            only events that became part of the chain ({spansOf.size} of {events.length})
          </span>
        </label>
      </Filters>
      <div className="both" ref={box}>
        <section aria-labelledby="team-side">
          <h2 id="team-side">
            <Link parts={['runs', run, 'team', trajectory]}>Team</Link> <small>{events.length} events</small>
          </h2>
          <div className="pane" tabIndex={0} role="region" aria-label="Events of the team">
            <Loaded of={found}>
              {() => (
                <ol className="turns">
                  {shown.map((view) => (
                    <EventItem
                      key={view.event.id}
                      run={run}
                      trajectory={trajectory}
                      view={view}
                      isSelected={view.event.id === event}
                      isLinked={linkedEvents.has(view.event.id)}
                      links={<SpanLinks chain={chain} spans={spansOf.get(view.event.id) ?? []} />}
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
        </section>
        <Connectors box={box} pairs={pairs} />
        <section aria-labelledby="chain-side">
          <h2 id="chain-side">
            <Link parts={['runs', run, 'chains', chain.row.id]}>Chain</Link>{' '}
            <small>{chain.spans.length} spans</small>
          </h2>
          <div className="pane" tabIndex={0} role="region" aria-label="Spans of the chain">
            <Spans
              label="Chain"
              spans={chain.spans}
              selected={spanAt}
              linked={linkedSpans}
              linksOf={({ index }) => <EventLinks sources={eventsOf.get(index) ?? []} byId={byId} />}
            />
          </div>
        </section>
      </div>
    </>
  )
}

function SpanLinks({ chain, spans }: { chain: ChainView; spans: readonly number[] }): ReactNode {
  if (spans.length === 0) return null
  return (
    <p className="links">
      →{' '}
      {spans.map((index) => (
        <button
          type="button"
          className="link"
          key={index}
          onClick={() => setQuery({ span: index, event: undefined })}
        >
          span {index + 1} {agentName(chain.spans[index]?.agent ?? '')}
        </button>
      ))}
    </p>
  )
}

function EventLinks({
  sources,
  byId,
}: {
  sources: readonly string[]
  byId: ReadonlyMap<string, EventView>
}): ReactNode {
  if (sources.length === 0) return null
  return (
    <p className="links">
      ←{' '}
      {sources.map((id) => {
        const view = byId.get(id)
        return (
          <button
            type="button"
            className="link"
            key={id}
            onClick={() => setQuery({ event: id, span: undefined })}
          >
            {view === undefined ? id : eventName(view)}
          </button>
        )
      })}
    </p>
  )
}

/** Observations come from the call before them, and so from the same events' results. */
function linksBetween({ spans }: ChainView) {
  const eventsOf = new Map<number, string[]>()
  const spansOf = new Map<string, number[]>()
  for (const { index, origin } of spans) {
    if (!('events' in origin)) continue
    eventsOf.set(index, origin.events)
    for (const id of origin.events) spansOf.set(id, [...(spansOf.get(id) ?? []), index])
  }
  return { eventsOf, spansOf }
}

function showInPane(id: string): void {
  const element = document.getElementById(id)
  const pane = element?.closest<HTMLElement>('.pane')
  if (!element || !pane) return
  const top = element.getBoundingClientRect().top - pane.getBoundingClientRect().top + pane.scrollTop
  pane.scrollTo({ top: top - pane.clientHeight / 4 })
}
