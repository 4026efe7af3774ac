import type { ReactNode } from 'react'
import type { Task } from '../../src/schema/index.ts'
import type { TaskView } from '../../src/studio/api.ts'
import { useGet, useRows } from '../data/queries.ts'
import { to, useParam } from '../data/url.ts'
import { OutcomeBadge } from '../parts/badges.tsx'
import { Choice, Chosen, Filters, Search } from '../parts/filters.tsx'
import { duration, short, visible, whole } from '../parts/format.ts'
import { Link } from '../parts/link.tsx'
import { Rows } from '../parts/rows.tsx'
import { Empty, Facts, Loaded, Screen, Written } from '../parts/screen.tsx'

/** Questions with gold answers. */
export function TasksScreen({ run }: { run: string }): ReactNode {
  const [suite] = useParam('suite')
  const [split] = useParam('split')
  const [search] = useParam('search')
  const list = useRows('/api/runs/:run/tasks', { run }, { suite, split, search } as object)
  return (
    <Screen title="Tasks" about="questions with gold answers">
      <Filters>
        <Search />
        <Choice
          label="Split"
          name="split"
          options={[
            ['train', 'train'],
            ['dev', 'dev'],
            ['test', 'test'],
          ]}
        />
        <Chosen label="Suite" name="suite" />
      </Filters>
      <Rows
        label="Tasks"
        list={list}
        idOf={({ id }) => id}
        hrefOf={({ id }) => to(['runs', run, 'tasks', id])}
        empty={<Empty run="coa quickstart --fast">No task here. A run makes its tasks first:</Empty>}
        columns={[
          { head: 'question', cell: (row) => <bdi>{visible(row.question)}</bdi>, width: 'minmax(12rem,5fr)' },
          { head: 'suite', cell: (row) => row.suite, width: 'minmax(4rem,1fr)' },
          { head: 'split', cell: (row) => row.split ?? '–', width: '4rem' },
          { head: 'level', cell: (row) => row.level ?? '–', width: '3.5rem', number: true },
          { head: 'team runs', cell: (row) => row.trajectories, width: '5rem', number: true },
          { head: 'chains', cell: (row) => row.sequences, width: '4rem', number: true },
          { head: 'rollouts', cell: (row) => row.rollouts, width: '4.5rem', number: true },
          { head: 'attempts', cell: (row) => row.attempts, width: '4.5rem', number: true },
        ]}
      />
    </Screen>
  )
}

/** A task and everything that was tried on it. */
export function TaskScreen({ run, id }: { run: string; id: string }): ReactNode {
  const found = useGet('/api/runs/:run/tasks/:id', { run, id })
  return (
    <Screen title="Task" over={<Link parts={['runs', run, 'tasks']}>Tasks</Link>} about={<code>{id}</code>}>
      <Loaded of={found}>{(view) => <TaskBody run={run} view={view} />}</Loaded>
    </Screen>
  )
}

function TaskBody({ run, view }: { run: string; view: TaskView }): ReactNode {
  const { task, trajectories, chains, rollouts, attempts } = view
  return (
    <>
      <Written className="question" text={task.question} />
      <Facts
        facts={[
          ['gold answer', <Gold key="gold" gold={task.gold} />],
          ['checker', task.gold.checker],
          ['suite', task.suite],
          ['grammar', task.domain],
          ['split', task.split],
          ['level', task.level],
        ]}
      />
      {trajectories.length > 0 && rollouts.length > 0 && (
        <p>
          <Link parts={['runs', run, 'compare', task.id]} className="button">
            Team and model on this task
          </Link>
        </p>
      )}
      <Tried
        title="Team"
        rows={trajectories.map((row) => ({
          id: row.id,
          href: to(['runs', run, 'team', row.id]),
          name: row.team,
          outcome: row.outcome,
          answer: row.answer,
          facts: `${whole(row.events)} events, ${row.calls} calls, ${duration(row.seconds)}`,
        }))}
      />
      <Tried
        title="Chains"
        rows={chains.map((row) => ({
          id: row.id,
          href: to(['runs', run, 'chains', row.id]),
          name: row.origin,
          outcome: row.outcome,
          answer: undefined,
          facts: row.dropped === undefined ? (row.kept ? '✓ kept' : '') : `✗ dropped: ${row.dropped.reason}`,
        }))}
      />
      <Tried
        title="Rollouts"
        rows={rollouts.map((row) => ({
          id: row.id,
          href: to(['runs', run, 'rollouts', row.id]),
          name: row.step === undefined ? row.checkpoint.split('/').at(-1)! : `step ${row.step}`,
          outcome: row.outcome,
          answer: row.answer,
          facts: `reward ${short(row.reward)}, ${whole(row.tokens)} tokens, ${row.calls} calls`,
        }))}
      />
      <Tried
        title="Attempts in evaluations"
        rows={attempts.map((row) => ({
          id: row.id,
          href:
            row.source === undefined
              ? undefined
              : to(['runs', run, row.source.kind === 'rollout' ? 'rollouts' : 'team', row.source.id]),
          name: row.solver,
          outcome: row.outcome,
          answer: row.answer,
          facts: `${whole(row.tokens)} tokens, ${row.calls} calls, ${duration(row.seconds)}`,
        }))}
      />
    </>
  )
}

interface TriedRow {
  id: string
  href: string | undefined
  name: string
  outcome: Parameters<typeof OutcomeBadge>[0]['outcome']
  answer: string | undefined
  facts: string
}

function Tried({ title, rows }: { title: string; rows: readonly TriedRow[] }): ReactNode {
  if (rows.length === 0) return null
  return (
    <section>
      <h2>
        {title} <small>{rows.length}</small>
      </h2>
      <div className="scroll" tabIndex={0} role="region" aria-label={title}>
        <table>
          <thead className="unseen">
            <tr>
              <th scope="col">by</th>
              <th scope="col">outcome</th>
              <th scope="col">answer</th>
              <th scope="col">figures</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ id, href, name, outcome, answer, facts }) => (
              <tr key={id}>
                <th scope="row">{href === undefined ? name : <a href={href}>{name}</a>}</th>
                <td>
                  <OutcomeBadge outcome={outcome} />
                </td>
                <td className="text">
                  <bdi>{answer === undefined ? '' : visible(answer)}</bdi>
                </td>
                <td>{facts}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function Gold({ gold }: { gold: Task['gold'] }): ReactNode {
  switch (gold.checker) {
    case 'exact':
      return <bdi>{visible(gold.answers.join(' or '))}</bdi>
    case 'math':
    case 'judge':
      return <bdi>{visible(gold.answer)}</bdi>
    case 'code':
      return `${gold.tests.length} tests`
    case 'none':
      return 'there is none'
  }
}
