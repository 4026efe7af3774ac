import type { ReactNode } from 'react'
import type { ChainView } from '../../src/studio/api.ts'
import { useGet } from '../data/queries.ts'
import { questionOf } from '../data/question.ts'
import { MarkBadge, OutcomeBadge } from '../parts/badges.tsx'
import { ChainBody, useTokenView } from '../parts/chain-parts.tsx'
import { visible, whole } from '../parts/format.ts'
import { Link } from '../parts/link.tsx'
import { MarkForm } from '../parts/mark-form.tsx'
import { Facts, Loaded, Screen, Written } from '../parts/screen.tsx'
import { CHUNK } from '../parts/tokens.tsx'

interface ChainScreenProps {
  run: string
  id: string
  canAct: boolean
}

/** One sequence: what is trained on, and where it comes from. */
export function ChainScreen({ run, id, canAct }: ChainScreenProps): ReactNode {
  const found = useGet('/api/runs/:run/chains/:id', { run, id })
  const { isOn, from } = useTokenView()
  const tokens = useGet(
    '/api/runs/:run/chains/:id/tokens',
    { run, id },
    { from, count: CHUNK },
    { enabled: isOn, keep: true },
  )
  const { data } = found
  return (
    <Screen
      title="Chain"
      over={<Link parts={['runs', run, 'chains']}>Chains</Link>}
      beside={
        data && (
          <span className="actions">
            <OutcomeBadge outcome={data.row.outcome} />
            <MarkBadge mark={data.row.mark} />
            {data.row.trajectoryId !== undefined && (
              <Link parts={['runs', run, 'both', id]} className="button primary">
                Side by side with the team
              </Link>
            )}
          </span>
        )
      }
      about={<code>{id}</code>}
    >
      <Loaded of={found}>
        {(view) => (
          <>
            <Written className="question" text={questionOf(view)} />
            <Facts facts={factsOf(run, view)} />
            {canAct && (
              <MarkForm
                key={view.row.mark?.at ?? ''}
                run={run}
                kind="sequence"
                id={id}
                mark={view.row.mark}
              />
            )}
            <ChainBody
              view={view}
              tokens={tokens}
              linksOf={({ origin, index }) =>
                'events' in origin &&
                origin.events.length > 0 &&
                view.row.trajectoryId !== undefined && (
                  <p className="links">
                    <Link parts={['runs', run, 'both', id]} query={{ span: index }}>
                      from {origin.events.length === 1 ? 'an event' : `${origin.events.length} events`} of the
                      team
                    </Link>
                  </p>
                )
              }
            />
          </>
        )}
      </Loaded>
    </Screen>
  )
}

function factsOf(run: string, { row, chain, tokenCounts }: ChainView) {
  return [
    ['grammar', row.grammar],
    ['origin', row.origin],
    [
      'filter',
      row.dropped !== undefined
        ? `✗ dropped by ${row.dropped.stage}: ${row.dropped.reason}. ${row.dropped.detail}`
        : row.kept === true
          ? `✓ kept, weight ${row.weight ?? 1}`
          : undefined,
    ],
    ['checked', chain.verdict && visible(chain.verdict.evidence)],
    ['saw the gold answer', chain.provenance?.sawGold ? 'yes' : undefined],
    [
      'task',
      row.taskId && (
        <Link key="task" parts={['runs', run, 'tasks', row.taskId]}>
          {row.taskId}
        </Link>
      ),
    ],
    [
      'tokens',
      tokenCounts &&
        `${whole(tokenCounts.trained)} trained on, ${whole(tokenCounts.masked)} masked, ${whole(tokenCounts.prompt)} prompt`,
    ],
  ] as const
}
