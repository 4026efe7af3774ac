import type { ReactNode } from 'react'
import type { Stop } from '../../src/studio/api.ts'
import { useRows } from '../data/queries.ts'
import { to, useParam } from '../data/url.ts'
import { MarkBadge, OutcomeBadge, stopWords } from '../parts/badges.tsx'
import { Choice, Chosen, Filters, outcomeOptions, Search } from '../parts/filters.tsx'
import { duration, short, signed, visible, whole } from '../parts/format.ts'
import { Rows } from '../parts/rows.tsx'
import { Empty, Screen } from '../parts/screen.tsx'

/** Streams that the student sampled. */
export function RolloutsScreen({ run }: { run: string }): ReactNode {
  const query: Record<string, string | undefined> = {}
  for (const name of ['step', 'group', 'task', 'suite', 'checkpoint', 'outcome', 'stop', 'search', 'order']) {
    // biome-ignore lint/correctness/useHookAtTopLevel: always the same names in the same order
    query[name] = useParam(name)[0]
  }
  const list = useRows('/api/runs/:run/rollouts', { run }, query as object)
  return (
    <Screen title="Rollouts" about="what the student wrote, alone and with live tools">
      <Filters>
        <Search />
        <Choice label="Outcome" name="outcome" options={outcomeOptions} />
        <Choice label="Stop" name="stop" options={Object.entries(stopWords) as [Stop, string][]} any="any" />
        <Choice
          label="Order"
          name="order"
          any="as written"
          options={[
            ['-log', 'newest first'],
            ['-reward', 'best reward first'],
            ['reward', 'worst reward first'],
            ['-advantage', 'largest advantage first'],
            ['advantage', 'smallest advantage first'],
            ['-tokens', 'longest first'],
            ['tokens', 'shortest first'],
          ]}
        />
        <Chosen label="Step" name="step" />
        <Chosen label="Task" name="task" />
        <Chosen label="Suite" name="suite" />
        <Chosen label="Checkpoint" name="checkpoint" />
      </Filters>
      <Rows
        label="Rollouts"
        list={list}
        idOf={({ id }) => id}
        hrefOf={({ id }) => to(['runs', run, 'rollouts', id])}
        empty={
          <Empty run={`coa rl ${run}`}>
            No rollout here. Reinforcement learning and evaluation sample them:
          </Empty>
        }
        columns={[
          {
            head: 'answer',
            cell: (row) => <bdi>{row.answer === undefined ? 'no answer' : visible(row.answer)}</bdi>,
            width: 'minmax(8rem,2fr)',
          },
          {
            head: 'outcome',
            cell: (row) => (
              <>
                <OutcomeBadge outcome={row.outcome} /> <MarkBadge mark={row.mark} />
              </>
            ),
            width: 'minmax(7rem,1fr)',
          },
          { head: 'reward', cell: (row) => short(row.reward), width: '4.5rem', number: true },
          {
            head: 'advantage',
            cell: (row) => (row.advantage === undefined ? '–' : signed(row.advantage)),
            width: '5.5rem',
            number: true,
          },
          {
            head: 'stop',
            cell: (row) => `${stopWords[row.stop]}${row.wellFormed ? '' : ', not well formed'}`,
            width: 'minmax(8rem,2fr)',
          },
          { head: 'step', cell: (row) => row.step ?? '–', width: '3.5rem', number: true },
          { head: 'tokens', cell: (row) => whole(row.tokens), width: '4.5rem', number: true },
          { head: 'calls', cell: (row) => row.calls, width: '3.5rem', number: true },
          { head: 'time', cell: (row) => duration(row.seconds), width: '5rem', number: true },
        ]}
      />
    </Screen>
  )
}
