import { UsageError } from '../../base/errors/index.ts'
import { readToml } from '../../settings/index.ts'
import type { MetricRow, Run } from '../../store/index.ts'
import { settingsAsText } from './follow-run.ts'
import { openSink } from './open-sink.ts'
import { RunTracker } from './run-tracker.ts'
import type { MetricsSection } from './settings.ts'
import { type MetricBatch, problemOf, type SinkName } from './sink.ts'

/** Sends everything that a run, or one stage of it, has measured so far to one sink, as a new run there. Returns how much that was. */
export async function sendRun(
  run: Run,
  rows: readonly MetricRow[],
  { metrics: { chains, python } }: { metrics: MetricsSection },
  { name, target, stage }: { name: SinkName; target: string; stage?: string | undefined },
): Promise<{ points: number; chains: number }> {
  const problem = problemOf(name, target)
  if (problem !== undefined)
    throw new UsageError(problem, { fix: 'Give a URL such as http://localhost:5000.' })
  const batch = batchOf(run, rows, chains, stage === undefined || stage === 'eval')
  const settings = settingsAsText(readToml(run.files.config))
  const sink = await openSink(name, target, { id: run.id, settings, whole: true }, { python })
  let status: 'done' | 'failed' = 'failed'
  try {
    await sink.send(batch)
    status = 'done'
  } finally {
    await sink.close(status)
  }
  return { points: batch.points.length, chains: batch.chains.length }
}

function batchOf(run: Run, rows: readonly MetricRow[], chains: number, evaluates: boolean): MetricBatch {
  const tracker = new RunTracker(chains, (id) => run.get('rollout', id))
  for (const rollout of run.scan('rollout')) tracker.record('rollout', rollout)
  const batches = [
    ...rows.map((row) => tracker.row(row)),
    ...(evaluates ? run.scan('attempt').map((attempt) => tracker.record('attempt', attempt)) : []),
  ]
  return { points: batches.flatMap(({ points }) => points), chains: batches.flatMap((each) => each.chains) }
}
