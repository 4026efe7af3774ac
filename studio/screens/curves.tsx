import { useQueries } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { MetricNames } from '../../src/studio/api.ts'
import { planOf, plansOf } from '../data/chart-plans.ts'
import { get } from '../data/client.ts'
import { useRows } from '../data/queries.ts'
import { go, setQuery, to, useFlag, useParam } from '../data/url.ts'
import { CurveCharts } from '../parts/curves.tsx'
import { Filters, Search, Switch } from '../parts/filters.tsx'
import { Empty, Loading, Problem, Screen } from '../parts/screen.tsx'

const SMOOTHINGS = [
  ['', 'raw'],
  ['0.6', 'smooth'],
  ['0.9', 'smoother'],
] as const

/** Curves of a run, with other runs over it; without a run, of any runs. */
export function CurvesScreen({ run }: { run?: string }): ReactNode {
  const [others, setOthers] = useParam('runs')
  const chosen = (others ?? '').split(',').filter(Boolean).map(decodeURIComponent)
  const runs = [...new Set([...(run === undefined ? [] : [run]), ...chosen])]
  const [stageWanted] = useParam('stage')
  const [search] = useParam('search')
  const [all, toggleAll] = useFlag('all')
  const [isLog, toggleLog] = useFlag('log')
  const [smooth, setSmooth] = useParam('smooth')
  const list = useRows('/api/runs', {})
  const found = useQueries({
    queries: runs.map((id) => ({
      queryKey: ['/api/runs/:run/metrics', { run: id }, {}],
      queryFn: () => get('/api/runs/:run/metrics', { run: id }),
    })),
  })
  const metrics = found.flatMap(({ data }) => (data === undefined ? [] : [data]))
  const stages = [...new Set(metrics.flatMap((each) => each.stages.map(({ stage }) => stage)))]
  const stage = stageWanted !== undefined && stages.includes(stageWanted) ? stageWanted : stages.at(-1)
  const plans = stage === undefined ? [] : shownPlans(metrics, stage, all, search)
  const toggle = (id: string): void => {
    const next = chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]
    setOthers(next.map(encodeURIComponent).join(','))
  }
  const problem = found.find(({ error }) => error !== null)?.error
  return (
    <Screen title={run === undefined ? 'Curves' : 'Curves of the run'} about={run}>
      <details className="overlay" open={runs.length === 0 ? true : undefined}>
        <summary>
          {run === undefined ? 'Runs' : 'Overlay other runs'} ({chosen.length})
        </summary>
        <ul>
          {list.rows
            .filter(({ id }) => id !== run)
            .map(({ id, command }) => (
              <li key={id}>
                <label className="check">
                  <input type="checkbox" checked={chosen.includes(id)} onChange={() => toggle(id)} />
                  <span>
                    {id} <small>{command}</small>
                  </span>
                </label>
              </li>
            ))}
        </ul>
      </details>
      {stages.length > 0 && stage !== undefined && (
        <Filters>
          <Switch
            label="Stage"
            value={stage}
            options={stages.map((name) => [name, name] as const)}
            onChange={(next) => setQuery({ stage: next })}
          />
          <Search label="Metric" hint="such as entropy" />
          <Switch label="Smoothing" value={smooth ?? ''} options={SMOOTHINGS} onChange={setSmooth} />
          <label className="check">
            <input type="checkbox" checked={isLog} onChange={toggleLog} />
            <span>log axis</span>
          </label>
          <label className="check">
            <input type="checkbox" checked={all} onChange={toggleAll} />
            <span>all metrics</span>
          </label>
        </Filters>
      )}
      {problem !== undefined && problem !== null && <Problem problem={problem} />}
      {runs.length === 0 ? (
        <Empty>Choose runs above; their curves are drawn over each other.</Empty>
      ) : found.some(({ isPending }) => isPending) ? (
        <Loading />
      ) : stage === undefined ? (
        <Empty run={`coa sft ${run ?? runs[0]}`}>
          No stage of this run has trained a model yet. To train one:
        </Empty>
      ) : plans.length === 0 ? (
        <Empty>No metric has this name.</Empty>
      ) : (
        <CurveCharts
          runs={runs}
          stage={stage}
          plans={plans}
          smoothing={Number(smooth ?? 0)}
          isLog={isLog}
          onStep={
            stage === 'rl' && runs.length === 1
              ? (step) => go(to(['runs', runs[0]!, 'groups'], { step }))
              : undefined
          }
        />
      )}
    </Screen>
  )
}

function shownPlans(
  metrics: readonly MetricNames[],
  stage: string,
  all: boolean,
  search: string | undefined,
) {
  const names = [
    ...new Set(metrics.flatMap(({ stages }) => stages.find((each) => each.stage === stage)?.names ?? [])),
  ].sort()
  const planned = plansOf(stage).filter(({ lines }) => lines.some(([name]) => names.includes(name)))
  if (search !== undefined && search !== '')
    return names.filter((name) => name.toLowerCase().includes(search.toLowerCase())).map(planOf)
  if (!all && planned.length > 0) return planned
  const covered = new Set(planned.flatMap(({ lines }) => lines.map(([name]) => name)))
  return [...planned, ...names.filter((name) => !covered.has(name)).map(planOf)]
}
