import type { ReactNode } from 'react'
import type { SideRow } from '../../src/studio/api.ts'
import { useRows } from '../data/queries.ts'
import { to, useParam } from '../data/url.ts'
import { OutcomeBadge } from '../parts/badges.tsx'
import { Choice, Chosen, Filters } from '../parts/filters.tsx'
import { duration, visible, whole } from '../parts/format.ts'
import { Rows } from '../parts/rows.tsx'
import { Empty, Screen } from '../parts/screen.tsx'

/** Tasks that both the team and a model tried. */
export function CompareScreen({ run }: { run: string }): ReactNode {
  const [only] = useParam('only')
  const [suite] = useParam('suite')
  const list = useRows('/api/runs/:run/compare', { run }, { only, suite } as object)
  return (
    <Screen
      title="Team and model"
      about="the same task, solved by the team and by one model; tokens are counted as billed, every request with its whole context"
    >
      <Filters>
        <Choice
          label="Show"
          name="only"
          options={[
            ['disagreements', 'disagreements'],
            ['team', 'only the team is right'],
            ['model', 'only the model is right'],
          ]}
        />
        <Chosen label="Suite" name="suite" />
      </Filters>
      <Rows
        label="Tasks"
        list={list}
        idOf={({ taskId }) => taskId}
        hrefOf={({ taskId }) => to(['runs', run, 'compare', taskId])}
        empty={
          <Empty run={`coa eval ${run}`}>
            No task here was tried by both. An evaluation gives the team and the models the same tasks:
          </Empty>
        }
        columns={[
          { head: 'question', cell: (row) => <bdi>{visible(row.question)}</bdi>, width: 'minmax(12rem,4fr)' },
          { head: 'suite', cell: (row) => row.suite, width: 'minmax(4rem,1fr)' },
          { head: 'team', cell: (row) => <OutcomeBadge outcome={row.team.outcome} />, width: '7.5rem' },
          { head: 'team’s tokens', cell: (row) => whole(row.team.tokens), width: '6.5rem', number: true },
          { head: 'model', cell: (row) => <OutcomeBadge outcome={row.model.outcome} />, width: '7.5rem' },
          {
            head: 'model’s tokens',
            cell: (row) => <Tokens team={row.team} model={row.model} />,
            width: '9rem',
            number: true,
          },
          {
            head: 'times',
            cell: (row) => `${duration(row.team.seconds)}, ${duration(row.model.seconds)}`,
            width: '8rem',
            number: true,
          },
        ]}
      />
    </Screen>
  )
}

function Tokens({ team, model }: { team: SideRow; model: SideRow }): ReactNode {
  const factor = model.tokens === 0 ? undefined : team.tokens / model.tokens
  return (
    <>
      {whole(model.tokens)}
      {factor !== undefined && factor > 1.05 && <small> {factor.toFixed(1)}× fewer</small>}
    </>
  )
}
