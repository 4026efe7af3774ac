import type { ReactNode } from 'react'
import type { FunnelView } from '../../src/studio/api.ts'
import { percent, plural, whole, words } from './format.ts'
import { Link } from './link.tsx'

/** What each filter kept; a click on what it dropped shows those chains. */
export function Funnel({ run, funnel }: { run: string; funnel: FunnelView }): ReactNode {
  const { sequences, kept, copies, stages, reasons } = funnel
  const most = Math.max(1, sequences)
  return (
    <>
      <p>
        <Link parts={['runs', run, 'chains']} query={{ kept: true }}>
          <b>{whole(kept)}</b>
        </Link>{' '}
        of <Link parts={['runs', run, 'chains']}>{plural(sequences, 'chain')}</Link> kept (
        {percent(kept / most)}){copies !== kept && `, ${whole(copies)} counting weights`}.
      </p>
      <ol className="funnel">
        {stages.map(({ name, before, after }) => {
          const own = reasons.filter(({ stage }) => stage === name)
          return (
            <li key={name}>
              <span className="name">{words(name)}</span>
              <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                <rect className="before" width={(100 * before) / most} height="10" />
                <rect className="left" width={(100 * after) / most} height="10" />
              </svg>
              <span className="left">{whole(after)}</span>
              <span className="lost">
                {before > after && (
                  <Link parts={['runs', run, 'chains']} query={{ kept: false, stage: name }}>
                    −{whole(before - after)}
                    <span className="unseen"> dropped by {name}</span>
                  </Link>
                )}
              </span>
              {own.length > 0 && (
                <ul className="reasons">
                  {own.map(({ reason, count }) => (
                    <li key={reason}>
                      <Link parts={['runs', run, 'chains']} query={{ kept: false, stage: name, reason }}>
                        {whole(count)} {reason}
                      </Link>
                    </li>
                  ))}
                </ul>
              )}
            </li>
          )
        })}
      </ol>
    </>
  )
}
