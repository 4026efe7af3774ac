import { type ReactNode, Suspense, useEffect, useRef } from 'react'
import type { Session } from '../src/studio/api.ts'
import { useLive } from './data/live.ts'
import { useGet } from './data/queries.ts'
import { go, to, usePlace } from './data/url.ts'
import { KeysHelp, useKeys } from './parts/keys.tsx'
import { Link } from './parts/link.tsx'
import { Loading, Problem, Screen } from './parts/screen.tsx'
import { ThemeChoice } from './parts/theme.tsx'
import { findScreen, loadScreens } from './routes.tsx'
import { RunNav } from './run-nav.tsx'

/** The first screen goes first. */
const AFTER_FIRST_MS = 500

/** The frame around every screen. */
export function App(): ReactNode {
  const { path } = usePlace()
  const parts = path.split('/').slice(1).map(decoded)
  const run = parts[0] === 'runs' ? parts[1] : undefined
  const isConnected = useLive(run, parts[0] === 'jobs' ? parts[1] : undefined)
  const session = useGet('/api/session', {})
  useKeys({ g: () => go(to(['runs'])) })
  useTop(path)
  useEffect(() => {
    const timer = setTimeout(loadScreens, AFTER_FIRST_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <>
      <button type="button" className="skip" onClick={() => document.querySelector('h1')?.focus()}>
        Skip to the content
      </button>
      <Bar session={session.data} section={parts[0]} isConnected={isConnected} />
      <div className={run === undefined ? 'frame' : 'frame with-nav'}>
        {run !== undefined && <RunNav run={run} section={parts[2] ?? ''} />}
        <main id="screen">
          {session.error !== null && session.data === undefined ? (
            <Screen title="The studio cannot be opened">
              <Problem problem={session.error} />
            </Screen>
          ) : (
            <Suspense fallback={<Loading />}>{findScreen(parts, session.data)}</Suspense>
          )}
        </main>
      </div>
    </>
  )
}

/** A new screen begins at its top. */
function useTop(path: string): void {
  const last = useRef(path)
  useEffect(() => {
    if (last.current !== path) scrollTo({ top: 0 })
    last.current = path
  }, [path])
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

interface BarProps {
  session: Session | undefined
  section: string | undefined
  isConnected: boolean
}

function Bar({ session, section, isConnected }: BarProps): ReactNode {
  const current = (name: string) => ((section || 'runs') === name ? { 'aria-current': 'page' as const } : {})
  return (
    <header className="bar">
      <Link parts={['runs']} className="brand">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="7" />
          <path d="M9 9h5M9 16h9M9 23h14" />
          <circle cx="22" cy="9" r="2.6" />
        </svg>
        <span>
          coa studio <small>{session?.project}</small>
        </span>
      </Link>
      <nav aria-label="Studio">
        <a href={to(['runs'])} {...current('runs')}>
          Runs
        </a>
        <a href={to(['curves'])} {...current('curves')}>
          Curves
        </a>
        <a href={to(['diff'])} {...current('diff')}>
          Diff
        </a>
        {session?.readOnly === false && (
          <>
            <a href={to(['new'])} {...current('new')}>
              Start
            </a>
            <a href={to(['ask'])} {...current('ask')}>
              Ask
            </a>
            <a href={to(['jobs'])} {...current('jobs')}>
              Jobs
            </a>
          </>
        )}
      </nav>
      <div className="end">
        {session?.readOnly === true && <span className="badge">read-only</span>}
        <span className={isConnected ? 'unseen' : 'badge interrupted'} role="status">
          {isConnected ? '' : '○ no connection: what you see may be old'}
        </span>
        <ThemeChoice />
        <KeysHelp />
      </div>
    </header>
  )
}
