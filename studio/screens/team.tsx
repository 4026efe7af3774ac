import type { ReactNode } from 'react'
import type { Outcome } from '../../src/studio/api.ts'
import { useRows } from '../data/queries.ts'
import { to, useParam } from '../data/url.ts'
import { OutcomeBadge } from '../parts/badges.tsx'
import { Choice, Chosen, Filters, outcomeOptions, Search } from '../parts/filters.tsx'
import { duration, visible, whole } from '../parts/format.ts'
import { Rows } from '../parts/rows.tsx'
import { Empty, Screen } from '../parts/screen.tsx'

/** The team's runs. */
export function TeamScreen({ run }: { run: string }): ReactNode {
  const [outcome] = useParam('outcome')
  const [search] = useParam('search')
  const [task] = useParam('task')
  const [suite] = useParam('suite')
  const query = { outcome: outcome as Outcome | undefined, search, task, suite }
  const list = useRows('/api/runs/:run/trajectories', { run }, query as object)
  return (
    <Screen title="Team" about="what the team of agents did, one trajectory per task">
      <Filters>
        <Search />
        <Choice label="Outcome" name="outcome" options={outcomeOptions} />
        <Chosen label="Task" name="task" />
        <Chosen label="Suite" name="suite" />
      </Filters>
      <Rows
        label="Trajectories"
        list={list}
        idOf={({ id }) => id}
        hrefOf={({ id }) => to(['runs', run, 'team', id])}
        empty={
          <Empty run={`coa teach ${run}`}>
            No trajectory here. A team makes them, or coa import reads other agents’ logs:
          </Empty>
        }
        columns={[
          { head: 'question', cell: (row) => <bdi>{visible(row.question)}</bdi>, width: 'minmax(12rem,4fr)' },
          { head: 'outcome', cell: (row) => <OutcomeBadge outcome={row.outcome} />, width: '7.5rem' },
          { head: 'suite', cell: (row) => row.suite, width: 'minmax(4rem,1fr)' },
          { head: 'team', cell: (row) => row.team, width: 'minmax(6rem,1fr)' },
          { head: 'agents', cell: (row) => row.agents, width: '4rem', number: true },
          { head: 'events', cell: (row) => whole(row.events), width: '4rem', number: true },
          { head: 'calls', cell: (row) => row.calls, width: '3.5rem', number: true },
          { head: 'tokens', cell: (row) => whole(row.tokens), width: '4.5rem', number: true },
          { head: 'time', cell: (row) => duration(row.seconds), width: '5.5rem', number: true },
        ]}
      />
    </Screen>
  )
}
