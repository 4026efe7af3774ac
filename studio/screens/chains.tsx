import type { ReactNode } from 'react'
import { useGet, useRows } from '../data/queries.ts'
import { to, useParam } from '../data/url.ts'
import { MarkBadge, OutcomeBadge } from '../parts/badges.tsx'
import { Choice, Chosen, Filters, outcomeOptions, Search } from '../parts/filters.tsx'
import { visible, whole } from '../parts/format.ts'
import { Rows } from '../parts/rows.tsx'
import { Empty, Screen } from '../parts/screen.tsx'

/** Sequences made from trajectories, and what the filter made of each. */
export function ChainsScreen({ run }: { run: string }): ReactNode {
  const names = ['kept', 'stage', 'reason', 'mark', 'outcome', 'suite', 'task', 'search'] as const
  const query: Record<string, string | undefined> = {}
  for (const name of names) {
    // biome-ignore lint/correctness/useHookAtTopLevel: always the same names in the same order
    query[name] = useParam(name)[0]
  }
  const list = useRows('/api/runs/:run/chains', { run }, query as object)
  const { data } = useGet('/api/runs/:run/filter', { run })
  const reasons = [...new Set((data?.funnel?.reasons ?? []).map(({ reason }) => reason))]
  return (
    <Screen title="Chains" about="a team’s run as one stream that a single model can write">
      <Filters>
        <Search />
        <Choice
          label="Filter"
          name="kept"
          options={[
            ['true', 'kept'],
            ['false', 'dropped'],
          ]}
        />
        {reasons.length > 0 && (
          <Choice
            label="Reason"
            name="reason"
            options={reasons.map((reason) => [reason, reason] as const)}
            any="any"
          />
        )}
        <Choice label="Outcome" name="outcome" options={outcomeOptions} />
        <Choice
          label="Mark"
          name="mark"
          options={[
            ['good', '▲ good'],
            ['bad', '▼ bad'],
          ]}
          any="any"
        />
        <Chosen label="Stage" name="stage" />
        <Chosen label="Task" name="task" />
        <Chosen label="Suite" name="suite" />
      </Filters>
      <Rows
        label="Chains"
        list={list}
        idOf={({ id }) => id}
        hrefOf={({ id }) => to(['runs', run, 'chains', id])}
        empty={
          <Empty run={`coa distill ${run}`}>No chain here. Chains are distilled from trajectories:</Empty>
        }
        columns={[
          { head: 'question', cell: (row) => <bdi>{visible(row.question)}</bdi>, width: 'minmax(12rem,4fr)' },
          { head: 'outcome', cell: (row) => <OutcomeBadge outcome={row.outcome} />, width: '7.5rem' },
          {
            head: 'filter',
            cell: (row) =>
              row.dropped !== undefined ? (
                <span className="badge wrong" title={row.dropped.detail}>
                  ✗ {row.dropped.reason}
                </span>
              ) : row.kept ? (
                <span className="badge correct">✓ kept{(row.weight ?? 1) > 1 ? ` ×${row.weight}` : ''}</span>
              ) : (
                '–'
              ),
            width: 'minmax(9rem,1.6fr)',
          },
          { head: 'mark', cell: (row) => <MarkBadge mark={row.mark} />, width: '4.5rem' },
          { head: 'origin', cell: (row) => row.origin, width: 'minmax(4rem,1fr)' },
          { head: 'spans', cell: (row) => row.spans, width: '3.5rem', number: true },
          { head: 'calls', cell: (row) => row.calls, width: '3.5rem', number: true },
          { head: 'characters', cell: (row) => whole(row.characters), width: '5.5rem', number: true },
        ]}
      />
    </Screen>
  )
}
