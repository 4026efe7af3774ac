import type { ReactNode } from 'react'
import type { Figure, Finding, RunOverview, StageView } from '../../src/studio/api.ts'
import { plansOf } from '../data/chart-plans.ts'
import { useGet } from '../data/queries.ts'
import { go, to } from '../data/url.ts'
import { RunActions } from '../parts/actions.tsx'
import { figureText, StateBadge } from '../parts/badges.tsx'
import { CurveCharts } from '../parts/curves.tsx'
import { duration, percent, short, visible, when, words } from '../parts/format.ts'
import { Funnel } from '../parts/funnel.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, IndexingNote, Loaded, Screen } from '../parts/screen.tsx'

const purposes: Readonly<Record<string, string>> = {
  tasks: 'tasks with checkable answers',
  teach: 'a team of agents solves them with real tools',
  distill: 'team transcripts become single-agent sequences',
  filter: 'poor sequences are dropped, with reasons',
  sft: 'a model is trained on the sequences, tool output masked',
  rl: 'the model improves on its own rollouts with live tools',
  eval: 'team and models on the same held-out tasks',
}
const places: Readonly<Record<string, string>> = {
  tasks: 'tasks',
  teach: 'team',
  distill: 'chains',
  filter: 'filter',
  sft: 'curves',
  rl: 'groups',
  eval: 'evals',
}

/** What a run has done, and how it went. */
export function RunScreen({ run, canAct }: { run: string; canAct: boolean }): ReactNode {
  const found = useGet('/api/runs/:run', { run })
  const { data } = found
  return (
    <Screen
      title={run}
      beside={
        data && (
          <span className="actions">
            <StateBadge state={data.state} />
            {data.job !== undefined && <Link parts={['jobs', data.job]}>job</Link>}
            {canAct && <RunActions run={data} />}
          </span>
        )
      }
      about={
        data && (
          <>
            <code>{data.command}</code> · {when(data.createdAt)} · coa {data.coa}
          </>
        )
      }
    >
      <Loaded of={found}>{(overview) => <Overview run={overview} />}</Loaded>
    </Screen>
  )
}

function Overview({ run }: { run: RunOverview }): ReactNode {
  return (
    <>
      <IndexingNote indexing={run.indexing} />
      {run.problem !== undefined && <p className="bad">{run.problem}</p>}
      {run.figures.length > 0 && (
        <dl className="tiles">
          {shownFigures(run.figures).map((figure) => (
            <div key={figure.label}>
              <dt>{figure.label}</dt>
              <dd>
                {figureText(figure)}
                {figure.unit === 'share' && figure.low !== undefined && figure.high !== undefined && (
                  <small>
                    {percent(figure.low)}–{percent(figure.high)}
                  </small>
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {run.findings.length > 0 && <Findings run={run.id} findings={run.findings} />}
      {run.notes.length > 0 && (
        <section aria-labelledby="notes">
          <h2 id="notes">Notes</h2>
          <ul className="notes">
            {run.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </section>
      )}
      <section aria-labelledby="stages">
        <h2 id="stages">Stages</h2>
        {run.stages.length === 0 ? (
          <Empty>No stage has started yet.</Empty>
        ) : (
          <ol className="stages">
            {run.stages.map((stage) => (
              <Stage key={stage.name} run={run.id} stage={stage} />
            ))}
          </ol>
        )}
      </section>
      {run.funnel !== undefined && (
        <section aria-labelledby="funnel">
          <h2 id="funnel">
            <Link parts={['runs', run.id, 'filter']}>Filter</Link>
          </h2>
          <Funnel run={run.id} funnel={run.funnel} />
        </section>
      )}
      <Training run={run.id} />
      {run.log.length > 0 && <Log lines={run.log} />}
    </>
  )
}

/** A figure without an interval is left out where the same figure has one. */
function shownFigures(figures: readonly Figure[]): readonly Figure[] {
  return figures.filter(
    ({ low, value, unit }) =>
      low !== undefined ||
      !figures.some((other) => other.low !== undefined && other.value === value && other.unit === unit),
  )
}

function Stage({ run, stage }: { run: string; stage: StageView }): ReactNode {
  const { name, status, startedAt, endedAt, figures } = stage
  const took = endedAt === undefined ? undefined : (Date.parse(endedAt) - Date.parse(startedAt)) / 1000
  const numbers = Object.entries(figures).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  )
  const shown = numbers.slice(0, 8)
  const place = places[name]
  return (
    <li className={status}>
      <div>
        <h3>{place === undefined ? name : <Link parts={['runs', run, place]}>{name}</Link>}</h3>
        <StateBadge state={status} /> <small>{took === undefined ? when(startedAt) : duration(took)}</small>
      </div>
      <div>
        <p>{purposes[name]}</p>
        <ul className="figures">
          {shown.map(([key, value]) => (
            <li key={key}>
              {/accuracy|rate|share/.test(key) && value <= 1 ? percent(value, 1) : short(value)}{' '}
              <small>{words(key)}</small>
            </li>
          ))}
        </ul>
      </div>
    </li>
  )
}

function Training({ run }: { run: string }): ReactNode {
  const { data } = useGet('/api/runs/:run/metrics', { run })
  const stages = (data?.stages ?? []).filter(({ stage }) => plansOf(stage).length > 0)
  return stages.map(({ stage, steps, names }) => (
    <section key={stage} aria-label={`Curves of ${stage}`}>
      <h2>
        <Link parts={['runs', run, 'curves']} query={{ stage }}>
          {stage === 'rl' ? 'Reinforcement learning' : 'Supervised fine-tuning'}
        </Link>{' '}
        <small>{steps === 1 ? '1 step' : `${steps} steps`}</small>
      </h2>
      <CurveCharts
        runs={[run]}
        stage={stage}
        plans={plansOf(stage)
          .filter(({ lines }) => lines.some(([name]) => names.includes(name)))
          .slice(0, 4)}
        onStep={stage === 'rl' ? (step) => go(to(['runs', run, 'groups'], { step })) : undefined}
      />
    </section>
  ))
}

function Findings({ run, findings }: { run: string; findings: readonly Finding[] }): ReactNode {
  return (
    <section aria-labelledby="findings">
      <h2 id="findings">Diagnostics</h2>
      <ul className="findings">
        {findings.map(({ id, step, what, cause, advice }) => (
          <li key={id}>
            <h3>{what}</h3>
            <p>{cause}</p>
            <p>{advice}</p>
            <small>
              since <Link parts={['runs', run, 'groups']} query={{ step }}>{`step ${step}`}</Link>
            </small>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Log({ lines }: { lines: readonly string[] }): ReactNode {
  return (
    <section>
      <h2 id="log">Log</h2>
      <pre className="log" tabIndex={0} role="region" aria-labelledby="log">
        {visible(lines.join('\n'))}
      </pre>
    </section>
  )
}
