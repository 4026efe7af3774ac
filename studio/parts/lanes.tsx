import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import type { TrajectoryEvent } from '../../src/schema/index.ts'
import type { EventView } from '../../src/studio/api.ts'
import { setQuery } from '../data/url.ts'
import { duration, visible } from './format.ts'
import { hueOf } from './hues.ts'

const LANE = 34
const STEP = 22
const TOP = 8
const BOTTOM = 22
const MIN_GAP = 9

interface LanesProps {
  events: readonly EventView[]
  selected: string | undefined
  /** Places events by their time instead of their order. */
  byTime: boolean
}

/** A team's run as a timeline with a lane for each agent: messages go from lane to lane, tool calls are bars. */
export function Lanes({ events, selected, byTime }: LanesProps): ReactNode {
  const { agents, places, width } = useMemo(() => layOut(events, byTime), [events, byTime])
  const scroller = useRef<HTMLDivElement>(null)
  const height = TOP + agents.length * LANE + BOTTOM
  const y = (agent: string): number => TOP + (agents.indexOf(agent) + 0.5) * LANE
  const at = selected === undefined ? undefined : places.get(selected)
  useEffect(() => {
    const box = scroller.current
    if (box === null || at === undefined) return
    if (at < box.scrollLeft + 20 || at > box.scrollLeft + box.clientWidth - 20)
      box.scrollLeft = at - box.clientWidth / 2
  }, [at])
  return (
    <div className="lanes">
      <ul aria-hidden="true" style={{ paddingTop: TOP }}>
        {agents.map((agent) => (
          <li key={agent} className={`agent ${hueOf(agent)}`} style={{ height: LANE }}>
            {visible(agent)}
          </li>
        ))}
      </ul>
      <div className="scroll" ref={scroller} tabIndex={0} role="region" aria-label="Timeline">
        <svg
          width={width}
          height={height}
          role="img"
          aria-label={`Timeline of ${events.length} events of ${agents.length} agents; the same events follow as a list`}
        >
          <defs>
            <marker
              id="arrow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto"
            >
              <path d="M0 0L8 4L0 8z" className="arrow" />
            </marker>
          </defs>
          {agents.map((agent) => (
            <path key={agent} className={`lane ${hueOf(agent)}`} d={`M0 ${y(agent)}H${width}`} />
          ))}
          {at !== undefined && (
            <rect className="cursor" x={at - 9} y={0} width={18} height={height - BOTTOM} rx={5} />
          )}
          {events.map(({ event }, index) => (
            <EventMark
              key={event.id}
              event={event}
              x={places.get(event.id)!}
              y={y(event.agent)}
              toY={event.type === 'sent' && agents.includes(event.to) ? y(event.to) : undefined}
              until={answerOf(events, index, places)}
            />
          ))}
          {ticks(events, places).map(({ x, text }) => (
            <text key={x} x={x} y={height - 6}>
              {text}
            </text>
          ))}
        </svg>
      </div>
    </div>
  )
}

interface EventMarkProps {
  event: TrajectoryEvent
  x: number
  y: number
  toY: number | undefined
  until: number | undefined
}

function EventMark({ event, x, y, toY, until }: EventMarkProps): ReactNode {
  const select = (): void => {
    setQuery({ event: event.id })
    document.getElementById(`event-${event.id}`)?.scrollIntoView({ block: 'center' })
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: for the mouse; the list has a button for each event
    <g className={`mark ${event.type} ${hueOf(event.agent)}`} onClick={select}>
      <title>{`${event.agent}: ${event.type === 'sent' ? `to ${event.to}` : event.type.replace('-', ' ')}, ${duration(event.t / 1000)}`}</title>
      <rect className="target" x={x - 10} y={y - LANE / 2} width={20} height={LANE} />
      {shapeOf(event, x, y, toY, until)}
    </g>
  )
}

function shapeOf(event: TrajectoryEvent, x: number, y: number, toY?: number, until?: number): ReactNode {
  switch (event.type) {
    case 'activated':
      return <path className="outline" d={`M${x - 3} ${y - 6}L${x + 4} ${y}L${x - 3} ${y + 6}z`} />
    case 'wrote':
      return <circle className="solid" cx={x} cy={y} r={5.5} />
    case 'sent':
      return toY === undefined || toY === y ? (
        <circle className="outline" cx={x} cy={y} r={4} />
      ) : (
        <path className="message" d={`M${x} ${y}V${toY + (toY > y ? -7 : 7)}`} markerEnd="url(#arrow)" />
      )
    case 'tool-called':
      return (
        <>
          {until !== undefined && (
            <rect className="running" x={x} y={y - 3} width={Math.max(2, until - x)} height={6} />
          )}
          <rect className="solid" x={x - 5.5} y={y - 5.5} width={11} height={11} rx={1.5} />
        </>
      )
    case 'tool-answered':
      return (
        <rect
          className={event.ok ? 'outline' : 'outline bad'}
          x={x - 5}
          y={y - 5}
          width={10}
          height={10}
          rx={1.5}
        />
      )
    case 'answered':
      return <path className="solid" d={`M${x} ${y - 8}L${x + 8} ${y}L${x} ${y + 8}L${x - 8} ${y}z`} />
    case 'failed':
      return (
        <path
          className="cross"
          d={`M${x - 5} ${y - 5}L${x + 5} ${y + 5}M${x + 5} ${y - 5}L${x - 5} ${y + 5}`}
        />
      )
  }
}

/** Where the bar of a tool call ends: the same agent's next result. */
function answerOf(
  events: readonly EventView[],
  index: number,
  places: Map<string, number>,
): number | undefined {
  const { event } = events[index]!
  if (event.type !== 'tool-called') return undefined
  const answer = events
    .slice(index + 1)
    .find(
      ({ event: later }) =>
        later.type === 'tool-answered' && (later.parent === event.id || later.agent === event.agent),
    )
  return answer && places.get(answer.event.id)
}

function layOut(events: readonly EventView[], byTime: boolean) {
  const agents = [...new Set(events.map(({ event }) => event.agent))]
  const places = new Map<string, number>()
  const first = events[0]?.event.t ?? 0
  const span = Math.max(1, (events.at(-1)?.event.t ?? 0) - first)
  const scale = Math.max(600, Math.min(6000, events.length * STEP)) / span
  let x = 14
  events.forEach(({ event }, index) => {
    x = byTime ? Math.max(x + (index === 0 ? 0 : MIN_GAP), 14 + (event.t - first) * scale) : 14 + index * STEP
    places.set(event.id, x)
  })
  return { agents, places, width: x + 60 }
}

function ticks(events: readonly EventView[], places: Map<string, number>): { x: number; text: string }[] {
  let last = -1000
  return events.flatMap(({ event }) => {
    const x = places.get(event.id)!
    if (x - last < 90) return []
    last = x
    return [{ x, text: duration(event.t / 1000) }]
  })
}
