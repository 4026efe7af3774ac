import type { ReactNode } from 'react'
import type { TrajectoryEvent } from '../../src/schema/index.ts'
import type { EventView } from '../../src/studio/api.ts'
import { useGet } from '../data/queries.ts'
import { setQuery, useParam } from '../data/url.ts'
import { duration, inputText, plural, visible } from './format.ts'
import { hueOf } from './hues.ts'
import { Problem, Written } from './screen.tsx'

interface EventItemProps {
  run: string
  trajectory: string
  view: EventView
  isSelected: boolean
  isLinked?: boolean
  /** Under the text: links to spans. */
  links?: ReactNode
}

/** One event of a team's run. */
export function EventItem({
  run,
  trajectory,
  view,
  isSelected,
  isLinked = false,
  links,
}: EventItemProps): ReactNode {
  const { event, index, cut } = view
  const tool = event.type === 'tool-answered'
  const classes = [
    'turn',
    tool ? 'inserted' : hueOf(event.agent),
    isSelected && 'selected',
    isLinked && 'linked',
  ]
  return (
    <li
      className={classes.filter(Boolean).join(' ')}
      id={`event-${event.id}`}
      aria-current={isSelected ? 'true' : undefined}
    >
      <p className="who">
        <button
          type="button"
          className="link number"
          onClick={() => setQuery({ event: event.id, span: undefined })}
          title="Link to this event"
        >
          <span className="unseen">Event </span>
          {index + 1}
        </button>
        <span className={`agent ${tool ? '' : hueOf(event.agent)}`}>{event.agent}</span> {heading(event)}
        <small>{duration(event.t / 1000)}</small>
      </p>
      <EventText event={event} />
      {cut && <Whole run={run} trajectory={trajectory} id={event.id} />}
      {links}
    </li>
  )
}

function heading(event: TrajectoryEvent): ReactNode {
  switch (event.type) {
    case 'activated':
      return event.sawGold ? 'starts and sees the gold answer' : 'starts'
    case 'wrote':
      return event.said === undefined ? 'writes' : `writes: ${event.said.as}`
    case 'sent':
      return (
        <>
          to <b>{event.to}</b>
        </>
      )
    case 'tool-called':
      return (
        <>
          calls <b>{event.tool}</b>
        </>
      )
    case 'tool-answered':
      return (
        <>
          {event.ok ? 'gets from' : 'gets an error from'} <b>{event.tool}</b>
        </>
      )
    case 'answered':
      return 'answers'
    case 'failed':
      return `fails: ${event.boundary}`
  }
}

function EventText({ event }: { event: TrajectoryEvent }): ReactNode {
  switch (event.type) {
    case 'activated':
      return (
        <details>
          <summary>
            Its prompt: {plural(event.messages.length, 'message')}
            <span className="unseen"> of event {event.id}</span>
          </summary>
          {event.messages.map(({ role, content }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: messages never change
            <div key={index}>
              <small>{role}</small>
              <Written text={content} />
            </div>
          ))}
        </details>
      )
    case 'wrote':
      return (
        <>
          {event.thought !== undefined && event.said !== undefined && (
            <Written className="thought" text={event.thought} />
          )}
          <Written text={event.said?.text ?? event.text} />
        </>
      )
    case 'sent':
      return event.forwards === undefined ? (
        <Written text={event.text} />
      ) : (
        <p className="note">
          forwards{' '}
          <button type="button" className="link" onClick={() => setQuery({ event: event.forwards })}>
            an earlier event
          </button>
        </p>
      )
    case 'tool-called':
      return <Written text={inputText(event.input)} />
    case 'tool-answered':
      return <Written text={event.output} />
    case 'answered':
      return <Written text={event.text} />
    case 'failed':
      return <Written text={event.message} />
  }
}

/** Lists cut long texts; this one loads the whole. */
function Whole({ run, trajectory, id }: { run: string; trajectory: string; id: string }): ReactNode {
  const [open, setOpen] = useParam('whole')
  const isOpen = open === id
  const found = useGet(
    '/api/runs/:run/trajectories/:id/events/:event',
    { run, id: trajectory, event: id },
    {},
    { enabled: isOpen },
  )
  return (
    <>
      <button type="button" className="link" onClick={() => setOpen(isOpen ? undefined : id)}>
        {isOpen ? 'Close the full text' : 'Full text'}
        <span className="unseen"> of event {id}</span>
      </button>
      {isOpen && found.error !== null && <Problem problem={found.error} />}
      {isOpen && found.data !== undefined && <EventText event={found.data.event} />}
    </>
  )
}

/** In a few words, for lists of links. */
export function eventName({ event, index }: Pick<EventView, 'event' | 'index'>): string {
  const verbs: Record<TrajectoryEvent['type'], string> = {
    activated: 'starts',
    wrote: 'writes',
    sent: 'sends',
    'tool-called': 'calls',
    'tool-answered': 'gets',
    answered: 'answers',
    failed: 'fails',
  }
  return visible(`${index + 1} ${event.agent} ${verbs[event.type]}`)
}
