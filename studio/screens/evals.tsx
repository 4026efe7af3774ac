import type { ReactNode } from 'react'
import { useRows } from '../data/queries.ts'
import { Interval } from '../parts/badges.tsx'
import { whole } from '../parts/format.ts'
import { Link } from '../parts/link.tsx'
import { Empty, Loading, Problem, Screen } from '../parts/screen.tsx'

/** The evaluations of a run. */
export function EvalsScreen({ run }: { run: string }): ReactNode {
  const { rows, isLoading, problem } = useRows('/api/runs/:run/evals', { run })
  return (
    <Screen title="Evaluation" about="team and models on the same held-out tasks">
      {problem !== null ? (
        <Problem problem={problem} />
      ) : isLoading ? (
        <Loading />
      ) : rows.length === 0 ? (
        <Empty run={`coa eval ${run}`}>
          This run has no evaluation yet. To compare its models with the team:
        </Empty>
      ) : (
        <ul className="cards">
          {rows.map(({ id, tasks, solvers }) => (
            <li key={id}>
              <h2>
                <Link parts={['runs', run, 'evals', id]}>{id}</Link> <small>{whole(tasks)} tasks</small>
              </h2>
              <table>
                <thead className="unseen">
                  <tr>
                    <th scope="col">solver</th>
                    <th scope="col">accuracy</th>
                  </tr>
                </thead>
                <tbody>
                  {solvers.map(({ name, accuracy }) => (
                    <tr key={name}>
                      <th scope="row">{name}</th>
                      <td>
                        <Interval estimate={accuracy} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </li>
          ))}
        </ul>
      )}
    </Screen>
  )
}
