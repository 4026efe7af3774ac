import type { ReactNode } from 'react'
import { useRows } from '../data/queries.ts'
import { to } from '../data/url.ts'
import { StateBadge } from '../parts/badges.tsx'
import { visible, when } from '../parts/format.ts'
import { Rows } from '../parts/rows.tsx'
import { Empty, Screen } from '../parts/screen.tsx'

/** What this studio has started. */
export function JobsScreen(): ReactNode {
  const list = useRows('/api/jobs', {})
  return (
    <Screen title="Jobs" about="what was started from this studio">
      <Rows
        label="Jobs"
        list={list}
        idOf={({ id }) => id}
        hrefOf={({ id }) => to(['jobs', id])}
        empty={
          <Empty>
            Nothing has been started here yet. <a href={to(['new'])}>Start a run</a>, or{' '}
            <a href={to(['ask'])}>ask a model</a>.
          </Empty>
        }
        columns={[
          { head: 'job', cell: (row) => row.title, width: 'minmax(12rem,2fr)' },
          { head: 'state', cell: (row) => <StateBadge state={row.state} />, width: '8rem' },
          { head: 'started', cell: (row) => when(row.startedAt), width: '9rem' },
          {
            head: 'last line',
            cell: (row) => <bdi>{visible(row.lastLine ?? '')}</bdi>,
            width: 'minmax(10rem,3fr)',
          },
        ]}
      />
    </Screen>
  )
}
