import { type ReactNode, useEffect, useRef } from 'react'
import type { Indexing } from '../../src/studio/api.ts'
import { RequestProblem } from '../data/client.ts'
import { usePlace } from '../data/url.ts'
import { percent, visible } from './format.ts'

interface ScreenProps {
  title: string
  /** Above the title. */
  over?: ReactNode
  /** Beside the title: badges, buttons. */
  beside?: ReactNode
  about?: ReactNode
  children: ReactNode
}

/** One screen with its title, which gets the focus when it is opened. */
export function Screen({ title, over, beside, about, children }: ScreenProps): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null)
  const { path } = usePlace()
  useEffect(() => {
    document.title = `${title} · coa studio`
  }, [title])
  // biome-ignore lint/correctness/useExhaustiveDependencies: for each path once, not when its title changes
  useEffect(() => {
    if (document.activeElement === null || document.activeElement === document.body || !isInScreen())
      heading.current?.focus({ preventScroll: true })
  }, [path])
  return (
    <>
      <header className="title">
        {over !== undefined && <div className="over">{over}</div>}
        <div>
          <h1 ref={heading} tabIndex={-1}>
            <bdi>{visible(title)}</bdi>
          </h1>
          {beside}
        </div>
        {about !== undefined && <div className="about">{about}</div>}
      </header>
      {children}
    </>
  )
}

/** Focus that a screen has set itself, such as on the row one came from, stays. */
function isInScreen(): boolean {
  return document.activeElement?.closest('#screen') !== null
}

export function Problem({ problem }: { problem: Error }): ReactNode {
  return (
    <div className="problem" role="alert">
      <p>
        <b>✗ {visible(problem.message)}</b>
      </p>
      {problem instanceof RequestProblem && problem.fix !== undefined && <p>{visible(problem.fix)}</p>}
    </div>
  )
}

export function Loading(): ReactNode {
  return (
    <p className="loading" role="status">
      Loading …
    </p>
  )
}

/** What to run to see something here. */
export function Empty({ children, run }: { children: ReactNode; run?: string }): ReactNode {
  return (
    <div className="empty">
      <p>{children}</p>
      {run !== undefined && (
        <p>
          <code>{run}</code>
        </p>
      )}
    </div>
  )
}

interface LoadedProps<Data> {
  of: { data: Data | undefined; error: Error | null }
  children: (data: Data) => ReactNode
}

/** The data, or that it is loading, or why it cannot be shown. */
export function Loaded<Data>({ of, children }: LoadedProps<Data>): ReactNode {
  if (of.data !== undefined) return children(of.data)
  return of.error === null ? <Loading /> : <Problem problem={of.error} />
}

export function IndexingNote({ indexing }: { indexing: Indexing | undefined }): ReactNode {
  if (indexing === undefined || indexing.of === 0) return null
  return (
    <p className="note" role="status">
      Reading the run’s log: {percent(indexing.bytes / indexing.of)}. More rows will follow.
    </p>
  )
}

export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }): ReactNode {
  const shown = facts.filter(([, value]) => value !== undefined && value !== '' && value !== null)
  return (
    <dl className="facts">
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** What a model, a tool or a task wrote: always as text. */
export function Written({ text, className }: { text: string; className?: string }): ReactNode {
  return <pre className={`written ${className ?? ''}`}>{visible(text)}</pre>
}
