import type { ReactNode } from 'react'
import type { Estimate, PairReport, SolverReport } from '../../src/schema/index.ts'
import type { EvalView } from '../../src/studio/api.ts'
import { useGet, useRows } from '../data/queries.ts'
import { setQuery, to, useFlag, useParam } from '../data/url.ts'
import { Interval } from '../parts/badges.tsx'
import { Choice, Filters, Search } from '../parts/filters.tsx'
import { duration, percent, short, visible, whole } from '../parts/format.ts'
import { Link } from '../parts/link.tsx'
import { type Column, Rows } from '../parts/rows.tsx'
import { Loaded, Screen } from '../parts/screen.tsx'

/** How solvers did on a set of tasks: as numbers with intervals, and task by task. */
export function EvalScreen({ run, id }: { run: string; id: string }): ReactNode {
  const found = useGet('/api/runs/:run/evals/:id', { run, id })
  return (
    <Screen
      title="Evaluation"
      over={<Link parts={['runs', run, 'evals']}>Evaluations</Link>}
      about={<code>{id}</code>}
    >
      <Loaded of={found}>
        {(view) => (
          <>
            <p>
              {whole(view.tasks)} tasks (
              {view.suites.map(({ suite, tasks }) => `${suite} ${whole(tasks)}`).join(', ')}). Intervals are
              95% confidence intervals.
            </p>
            <Solvers solvers={view.solvers} />
            <Pairs run={run} view={view} />
            <BySuite solvers={view.solvers} />
            <Matrix run={run} view={view} />
          </>
        )}
      </Loaded>
    </Screen>
  )
}

function Solvers({ solvers }: { solvers: readonly SolverReport[] }): ReactNode {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Solvers">
      <table>
        <thead>
          <tr>
            <th scope="col">solver</th>
            <th scope="col">accuracy</th>
            <th scope="col">undecided, failed</th>
            <th scope="col">tokens, each once</th>
            <th scope="col">tokens per correct answer</th>
            <th scope="col">tool calls</th>
            <th scope="col">time</th>
            <th scope="col">well formed</th>
          </tr>
        </thead>
        <tbody>
          {solvers.map((solver) => (
            <tr key={solver.name}>
              <th scope="row">{solver.name}</th>
              <td>
                <Interval estimate={solver.accuracy.strict} />
              </td>
              <td className="number">
                {solver.counts.undecided}, {solver.counts.failed}
              </td>
              <td className="number">{whole(solver.tokens.once.value)}</td>
              <td className="number">{short(solver.tokensPerSuccess.once?.value)}</td>
              <td className="number">{short(solver.calls.value)}</td>
              <td className="number">{duration(solver.ms.value / 1000)}</td>
              <td className="number">{solver.wellFormed === null ? '–' : percent(solver.wellFormed)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Pairs({ run, view }: { run: string; view: EvalView }): ReactNode {
  if (view.pairs.length === 0) return null
  const side = (solver: string): string => [run, view.id, solver].map(encodeURIComponent).join('/')
  return (
    <section>
      <h2 id="pairs">In pairs</h2>
      <div className="scroll" tabIndex={0} role="region" aria-labelledby="pairs">
        <table>
          <thead>
            <tr>
              <th scope="col">solver against reference</th>
              <th scope="col">accuracy</th>
              <th scope="col">both right</th>
              <th scope="col">only it</th>
              <th scope="col">only the reference</th>
              <th scope="col">p (McNemar)</th>
              <th scope="col">tokens saved</th>
            </tr>
          </thead>
          <tbody>
            {view.pairs.map((pair) => (
              <tr key={`${pair.reference} ${pair.solver}`}>
                <th scope="row">
                  <Link parts={['diff']} query={{ before: side(pair.reference), after: side(pair.solver) }}>
                    {pair.solver} <small>against {pair.reference}</small>
                  </Link>
                </th>
                <td>{difference(pair.difference)}</td>
                <td className="number">{pair.outcomes.both}</td>
                <td className="number">{pair.outcomes.onlySolver}</td>
                <td className="number">{pair.outcomes.onlyReference}</td>
                <td className="number">{short(pair.p)}</td>
                <td className="number">{saved(pair.saved)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

export function difference(estimate: Estimate | null): ReactNode {
  if (estimate === null) return '–'
  const points = (value: number): string =>
    `${value > 0 ? '+' : value < 0 ? '−' : ''}${Math.abs(100 * value).toFixed(1)}`
  return (
    <>
      <b>{points(estimate.value)}</b> points{' '}
      <small>
        {points(estimate.low)} to {points(estimate.high)}
      </small>
    </>
  )
}

function saved({ once }: PairReport['saved']): string {
  return once === null ? '–' : percent(once.value)
}

function BySuite({ solvers }: { solvers: readonly SolverReport[] }): ReactNode {
  const [field] = useParam('by')
  const wanted = field ?? 'suite'
  const groups = [
    ...new Set(
      solvers.flatMap(({ by }) => by.filter((part) => part.field === wanted).map(({ value }) => value)),
    ),
  ]
  const fields = [...new Set(solvers.flatMap(({ by }) => by.map((part) => part.field)))]
  if (fields.length === 0) return null
  return (
    <section>
      <h2 id="by">Accuracy by {wanted}</h2>
      {fields.length > 1 && (
        <Filters>
          <Choice
            label="By"
            name="by"
            any="suite"
            options={fields.filter((name) => name !== 'suite').map((name) => [name, name] as const)}
          />
        </Filters>
      )}
      <div className="scroll" tabIndex={0} role="region" aria-labelledby="by">
        <table>
          <thead>
            <tr>
              <th scope="col">solver</th>
              {groups.map((value) => (
                <th scope="col" key={value}>
                  {wanted === 'suite' ? value : `${wanted} ${value}`}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {solvers.map(({ name, by }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {groups.map((value) => {
                  const part = by.find((each) => each.field === wanted && each.value === value)
                  return (
                    <td key={value}>
                      {part === undefined ? (
                        '–'
                      ) : (
                        <>
                          <Interval estimate={part.strict} />
                          <small> {part.tasks} tasks</small>
                        </>
                      )}
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function Matrix({ run, view }: { run: string; view: EvalView }): ReactNode {
  const [disagreements, toggle] = useFlag('disagreements')
  const [suite] = useParam('suite')
  const [search] = useParam('search')
  const query = { suite, search, only: disagreements ? 'disagreements' : undefined }
  const list = useRows('/api/runs/:run/evals/:id/items', { run, id: view.id }, query as object)
  type Item = (typeof list.rows)[number]
  const columns: Column<Item>[] = [
    {
      head: 'task',
      cell: (item) => <bdi>{visible(item.question ?? item.taskId)}</bdi>,
      width: 'minmax(14rem,4fr)',
    },
    { head: 'suite', cell: (item) => item.suite, width: 'minmax(5rem,1fr)' },
    ...view.solvers.map(({ name }) => ({
      head: name,
      cell: (item: Item) => <Letters letters={item.outcomes[name] ?? ''} />,
      width: 'minmax(5rem,1fr)',
    })),
  ]
  return (
    <section aria-labelledby="matrix">
      <h2 id="matrix">Task by task</h2>
      <Filters>
        <Search />
        {view.suites.length > 1 && (
          <Choice
            label="Suite"
            name="suite"
            options={view.suites.map((each) => [each.suite, each.suite] as const)}
          />
        )}
        <label className="check">
          <input
            type="checkbox"
            checked={disagreements}
            onChange={() => {
              setQuery({ at: undefined })
              toggle()
            }}
          />
          <span>only disagreements ({whole(view.disagreements)})</span>
        </label>
      </Filters>
      <Rows
        label="Tasks and solvers"
        list={list}
        idOf={({ taskId }) => taskId}
        hrefOf={({ taskId }) => to(['runs', run, 'tasks', taskId])}
        empty="No task matches."
        columns={columns}
      />
    </section>
  )
}

const signs: Record<string, [string, string, string]> = {
  c: ['✓', 'correct', 'correct'],
  w: ['✗', 'wrong', 'wrong'],
  u: ['○', 'undecided', 'undecided'],
  f: ['!', 'failed', 'undecided'],
}

/** One sign for each attempt. */
export function Letters({ letters }: { letters: string }): ReactNode {
  if (letters === '') return <>–</>
  return (
    <span className="letters">
      {[...letters].map((letter, index) => {
        const [sign, word, className] = signs[letter] ?? ['?', letter, '']
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: attempts never move
          <span key={index} className={className}>
            <span aria-hidden="true">{sign}</span>
            <span className="word">{word}</span>
          </span>
        )
      })}
    </span>
  )
}
