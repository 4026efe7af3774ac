import type { ReactNode } from 'react'
import type { CheckpointView } from '../../src/studio/api.ts'
import { useRows } from '../data/queries.ts'
import { Interval } from '../parts/badges.tsx'
import { bytes, short, when, whole, words } from '../parts/format.ts'
import { Link } from '../parts/link.tsx'
import { Empty, Loading, Problem, Screen } from '../parts/screen.tsx'

const stageWords: Record<CheckpointView['stage'], string> = {
  init: 'made',
  sft: 'supervised fine-tuning',
  rl: 'reinforcement learning',
  import: 'imported',
}

/** Models and what each was trained from. */
export function CheckpointsScreen({ run, canAct }: { run: string; canAct: boolean }): ReactNode {
  const { rows, isLoading, problem } = useRows('/api/runs/:run/checkpoints', { run })
  const ids = new Set(rows.map(({ id }) => id))
  const roots = rows.filter(({ parent }) => parent === undefined || !ids.has(parent))
  return (
    <Screen title="Checkpoints" about="each under the one it was trained from">
      {problem !== null ? (
        <Problem problem={problem} />
      ) : isLoading ? (
        <Loading />
      ) : rows.length === 0 ? (
        <Empty run={`coa sft ${run}`}>No model has been trained yet. To train one:</Empty>
      ) : (
        <Branch run={run} canAct={canAct} rows={rows} here={roots} depth={0} />
      )}
    </Screen>
  )
}

interface BranchProps {
  run: string
  canAct: boolean
  rows: readonly CheckpointView[]
  here: readonly CheckpointView[]
  depth: number
}

function Branch({ run, canAct, rows, here, depth }: BranchProps): ReactNode {
  return (
    <ul className="lineage">
      {here.map((checkpoint) => {
        const next = rows.filter(({ parent, id }) => parent === checkpoint.id && id !== checkpoint.id)
        return (
          <li key={checkpoint.id}>
            <Checkpoint run={run} canAct={canAct} checkpoint={checkpoint} />
            {next.length > 0 && depth < 50 && (
              <Branch run={run} canAct={canAct} rows={rows} here={next} depth={depth + 1} />
            )}
          </li>
        )
      })}
    </ul>
  )
}

interface CheckpointProps {
  run: string
  canAct: boolean
  checkpoint: CheckpointView
}

function Checkpoint({ run, canAct, checkpoint }: CheckpointProps): ReactNode {
  const { id, path, stage, step, createdAt, parameters, metrics, parentName, usable, accuracy } = checkpoint
  const shown = Object.entries(metrics).slice(0, 6)
  return (
    <article className="checkpoint">
      {parentName !== undefined && <p className="note">trained from {parentName}</p>}
      <h2>
        {id}{' '}
        <small>
          {stageWords[stage]}
          {step > 0 ? `, step ${whole(step)}` : ''}
        </small>
      </h2>
      <p>
        <code>{path}</code>{' '}
        <small>
          {[
            parameters === undefined ? '' : `${short(parameters / 1e6)}M parameters`,
            bytes(checkpoint.bytes),
            when(createdAt),
          ]
            .filter(Boolean)
            .join(' · ')}
        </small>
      </p>
      {accuracy !== undefined && (
        <p>
          accuracy <Interval estimate={accuracy} />
        </p>
      )}
      {shown.length > 0 && (
        <ul className="figures">
          {shown.map(([name, value]) => (
            <li key={name}>
              {short(value)} <small>{words(name)}</small>
            </li>
          ))}
        </ul>
      )}
      <p className="actions">
        <Link parts={['runs', run, 'rollouts']} query={{ checkpoint: id }}>
          Its rollouts
        </Link>
        {canAct && usable && (
          <Link parts={['ask']} query={{ run, checkpoint: id }} className="button">
            Ask it<span className="unseen">: {id}</span>
          </Link>
        )}
        {!usable && <small>its files are no longer there</small>}
      </p>
    </article>
  )
}
