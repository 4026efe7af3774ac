import { useQueries } from '@tanstack/react-query'
import { type ReactNode, useId } from 'react'
import type { EvalDiff, EvalItem } from '../../src/studio/api.ts'
import { get } from '../data/client.ts'
import { useGet, useRows } from '../data/queries.ts'
import { setQuery, useParam } from '../data/url.ts'
import { Interval } from '../parts/badges.tsx'
import { Filters } from '../parts/filters.tsx'
import { short, visible, whole } from '../parts/format.ts'
import { Link } from '../parts/link.tsx'
import { Empty, Loaded, Screen } from '../parts/screen.tsx'
import { difference, Letters } from './eval.tsx'

const RUNS = 20

/** Two solvers, of one evaluation or of two: which tasks were gained and which lost. */
export function DiffScreen(): ReactNode {
  const [before] = useParam('before')
  const [after] = useParam('after')
  const sides = useSides()
  const isChosen = before !== undefined && after !== undefined
  const found = useGet(
    '/api/evals/compare',
    {},
    { before: before ?? '', after: after ?? '' },
    { enabled: isChosen },
  )
  return (
    <Screen
      title="Diff"
      about="two solvers on the tasks that both were given: what was gained and what was lost"
    >
      <Filters>
        <SideChoice label="Before" name="before" sides={sides} />
        <SideChoice label="After" name="after" sides={sides} />
        <button type="button" disabled={!isChosen} onClick={() => setQuery({ before: after, after: before })}>
          ⇄ Swap
        </button>
      </Filters>
      {!isChosen ? (
        <Empty {...(sides.length === 0 ? { run: 'coa eval' } : {})}>
          {sides.length === 0
            ? 'No run has an evaluation yet. To make one:'
            : 'Choose two solvers. They may be of different runs.'}
        </Empty>
      ) : (
        <Loaded of={found}>{(diff) => <Diff diff={diff} />}</Loaded>
      )}
    </Screen>
  )
}

interface Side {
  value: string
  label: string
}

function useSides(): Side[] {
  const { rows } = useRows('/api/runs', {})
  const runs = rows.slice(0, RUNS)
  const found = useQueries({
    queries: runs.map(({ id }) => ({
      queryKey: ['/api/runs/:run/evals', { run: id }, { first: true }],
      queryFn: () => get('/api/runs/:run/evals', { run: id }),
    })),
  })
  return found.flatMap(({ data }, index) =>
    (data?.rows ?? []).flatMap((row) =>
      row.solvers.map(({ name }) => ({
        value: [runs[index]!.id, row.id, name].map(encodeURIComponent).join('/'),
        label: `${name} · ${row.id} · ${runs[index]!.id}`,
      })),
    ),
  )
}

function SideChoice({
  label,
  name,
  sides,
}: {
  label: string
  name: string
  sides: readonly Side[]
}): ReactNode {
  const id = useId()
  const [value] = useParam(name)
  const isListed = value === undefined || sides.some((side) => side.value === value)
  return (
    <label htmlFor={id}>
      <span>{label}</span>
      <select id={id} value={value ?? ''} onChange={({ target }) => setQuery({ [name]: target.value })}>
        <option value="">choose …</option>
        {!isListed && (
          <option value={value}>{value.split('/').map(decodeURIComponent).reverse().join(' · ')}</option>
        )}
        {sides.map((side) => (
          <option key={side.value} value={side.value}>
            {side.label}
          </option>
        ))}
      </select>
    </label>
  )
}

function Diff({ diff }: { diff: EvalDiff }): ReactNode {
  const { before, after, shared, gained, lost, p } = diff
  const isSure = p < 0.05
  return (
    <>
      <table>
        <thead>
          <tr>
            <th scope="col">solver</th>
            <th scope="col">accuracy</th>
            <th scope="col">run</th>
          </tr>
        </thead>
        <tbody>
          {[before, after].map((side, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: before and after
            <tr key={index}>
              <th scope="row">
                {side.solver} <small>{index === 0 ? 'before' : 'after'}</small>
              </th>
              <td>
                <Interval estimate={side.accuracy} />
              </td>
              <td>
                <Link parts={['runs', side.run, 'evals', side.eval]}>{side.run}</Link>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="verdict-line">
        On {whole(shared)} shared tasks: {difference(diff.difference)}, p = {short(p)} (McNemar).{' '}
        {isSure ? 'That is more than chance.' : 'That may be chance.'}
      </p>
      <div className="columns">
        <Items title={`Gained: ${whole(gained.length)}`} sign="✓" items={gained} diff={diff} />
        <Items title={`Lost: ${whole(lost.length)}`} sign="✗" items={lost} diff={diff} />
      </div>
    </>
  )
}

interface ItemsProps {
  title: string
  sign: string
  items: readonly EvalItem[]
  diff: EvalDiff
}

function Items({ title, sign, items, diff }: ItemsProps): ReactNode {
  return (
    <section aria-label={title}>
      <h2>
        <span aria-hidden="true">{sign}</span> {title}
      </h2>
      {items.length === 0 && <p className="note">None.</p>}
      <ul className="items">
        {items.map((item) => (
          <li key={item.taskId}>
            <Link parts={['runs', diff.after.run, 'tasks', item.taskId]}>
              <bdi>{visible(item.question ?? item.taskId)}</bdi>
            </Link>{' '}
            <small>{item.suite}</small> <Outcomes item={item} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Outcomes({ item }: { item: EvalItem }): ReactNode {
  const entries = Object.entries(item.outcomes)
  return (
    <span>
      {entries.map(([name, letters], index) => (
        <span key={name}>
          {index > 0 && ' → '}
          <Letters letters={letters} />
        </span>
      ))}
    </span>
  )
}
