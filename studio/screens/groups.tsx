import type { ReactNode } from 'react'
import type { GroupRow, StepRow } from '../../src/studio/api.ts'
import { useRows } from '../data/queries.ts'
import { setQuery, to, useParam } from '../data/url.ts'
import { Choice, Chosen, Filters } from '../parts/filters.tsx'
import { percent, short, visible, whole } from '../parts/format.ts'
import { useKeys } from '../parts/keys.tsx'
import { Rows } from '../parts/rows.tsx'
import { Empty, Screen } from '../parts/screen.tsx'

/** RL step by step: its groups, and how much the rollouts of each differ. */
export function GroupsScreen({ run }: { run: string }): ReactNode {
  const [step] = useParam('step')
  const [task] = useParam('task')
  const [suite] = useParam('suite')
  const [order] = useParam('order')
  const steps = useRows('/api/runs/:run/steps', { run }, { order: '-step', limit: 500 })
  const newest = [...steps.rows].sort((one, other) => one.step - other.step)
  const list = useRows('/api/runs/:run/groups', { run }, { step, task, suite, order } as object)
  const at = newest.findIndex((row) => String(row.step) === step)
  const move = (by: number) => () => {
    const next = newest[Math.max(0, Math.min(newest.length - 1, at + by))]
    if (next !== undefined) setQuery({ step: next.step, at: undefined })
  }
  useKeys({ ']': move(1), '[': move(-1) })
  return (
    <Screen
      title="RL groups"
      about="the rollouts of one task in one step; advantages are computed within a group"
    >
      {newest.length > 0 && <Steps rows={newest} chosen={step} />}
      <Filters>
        <Choice
          label="Order"
          name="order"
          any="as written"
          options={[
            ['-spread', 'largest spread first'],
            ['spread', 'smallest spread first'],
            ['-reward', 'best first'],
            ['reward', 'worst first'],
            ['-log', 'newest first'],
          ]}
        />
        <Chosen label="Step" name="step" />
        <Chosen label="Task" name="task" />
        <Chosen label="Suite" name="suite" />
      </Filters>
      <Rows
        label="Groups"
        list={{ ...list, rows: list.rows.filter((row) => row.step !== undefined) }}
        idOf={({ id }) => id}
        hrefOf={({ id }) => to(['runs', run, 'groups', id])}
        empty={<Empty run={`coa rl ${run}`}>No group here. Reinforcement learning samples them:</Empty>}
        columns={[
          { head: 'question', cell: (row) => <bdi>{visible(row.question)}</bdi>, width: 'minmax(12rem,4fr)' },
          { head: 'step', cell: (row) => row.step ?? '–', width: '3.5rem', number: true },
          { head: 'suite', cell: (row) => row.suite, width: 'minmax(5rem,1fr)' },
          { head: 'correct', cell: (row) => <Correct row={row} />, width: '9rem' },
          { head: 'mean reward', cell: (row) => short(row.meanReward), width: '6rem', number: true },
          { head: 'spread', cell: (row) => <Spread row={row} />, width: '8rem', number: true },
        ]}
      />
    </Screen>
  )
}

function Correct({ row: { correct, rollouts } }: { row: GroupRow }): ReactNode {
  const shown = Math.min(rollouts, 16)
  const filled = Math.round((correct / Math.max(1, rollouts)) * shown)
  return (
    <span>
      <span className="dots" aria-hidden="true">
        {'●'.repeat(filled)}
        {'○'.repeat(shown - filled)}
      </span>{' '}
      {correct} of {rollouts}
    </span>
  )
}

function Spread({ row: { spread } }: { row: GroupRow }): ReactNode {
  if (spread === undefined) return '–'
  return spread === 0 ? (
    <span title="Nothing can be learned from a group whose rewards are equal.">all equal</span>
  ) : (
    short(spread)
  )
}

/** The steps as bars; one can be chosen. */
function Steps({ rows, chosen }: { rows: readonly StepRow[]; chosen: string | undefined }): ReactNode {
  const row = rows.find(({ step }) => String(step) === chosen)
  return (
    <section className="steps" aria-label="Steps">
      <div className="bars">
        {rows.map(({ step, correct, rollouts }) => {
          const share = rollouts === 0 ? 0 : correct / rollouts
          const isChosen = String(step) === chosen
          return (
            <button
              type="button"
              key={step}
              aria-pressed={isChosen}
              title={`step ${step}: ${percent(share)} correct`}
              onClick={() => setQuery({ step: isChosen ? undefined : step, at: undefined })}
            >
              <svg viewBox="0 0 10 40" preserveAspectRatio="none" aria-hidden="true">
                <rect className="before" width="10" height="40" />
                <rect className="left" y={40 - 40 * share} width="10" height={40 * share} />
              </svg>
              <span className={rows.length > 30 ? 'unseen' : ''}>{step}</span>
            </button>
          )
        })}
      </div>
      {row === undefined ? (
        <p className="note">
          Bars show the share of correct rollouts of each step. Choose one to see only its groups.
        </p>
      ) : (
        <dl className="facts">
          {(
            [
              ['step', row.step],
              ['rollouts', whole(row.rollouts)],
              ['correct', percent(row.rollouts === 0 ? 0 : row.correct / row.rollouts)],
              ['mean reward', short(row.meanReward)],
              ['groups', whole(row.groups)],
              ['groups with equal rewards', whole(row.equalGroups)],
              ['tokens', short(row.meanTokens)],
              ['tool calls', short(row.meanCalls)],
            ] as const
          ).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  )
}
