import type { RecordOf } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'
import { openSink } from './open-sink.ts'
import { RunTracker } from './run-tracker.ts'
import type { MetricsSection } from './settings.ts'
import type { MetricBatch, SinkName, SinkRun, SinkStatus } from './sink.ts'
import { SinkFeed } from './sink-feed.ts'

const FLUSH_MS = 3_000
/** How long the end of a stage may wait for the sinks. */
const CLOSE_MS = 60_000

/** Sends what a run stores from now on to the sinks of the settings. Returns what ends that. */
export function followRun(
  run: Run,
  config: { metrics: MetricsSection },
  onFinding: (text: string) => void,
): (status: SinkStatus) => Promise<void> {
  const { sinks, chains, python } = config.metrics
  const about: SinkRun = { id: run.id, settings: settingsAsText(config), whole: false }
  const feeds = (Object.entries(sinks) as [SinkName, string][]).map(
    ([name, target]) =>
      new SinkFeed(
        () => openSink(name, target, about, { python }),
        (reason) =>
          onFinding(
            `Metrics do not arrive at ${name} (${target}): ${reason} The run continues without it. If it does not respond again, send them later: coa run metrics ${run.id} --${name} ${target}`,
          ),
      ),
  )
  if (feeds.length === 0) return async () => {}
  const tracker = new RunTracker(chains, (id) => run.get('rollout', id))
  const pushAll = (batch: MetricBatch): void => {
    for (const feed of feeds) feed.push(batch)
  }
  const stop = run.watch({
    metric: (row) => pushAll(tracker.row(row)),
    record: (kind, record) => pushAll(tracker.record(kind, record as RecordOf<typeof kind>)),
  })
  const timer = setInterval(() => {
    for (const feed of feeds) feed.flush()
  }, FLUSH_MS)
  timer.unref()
  return async (status) => {
    stop()
    clearInterval(timer)
    await Promise.all(feeds.map((feed) => feed.close(status, CLOSE_MS)))
  }
}

/** The settings as parameters: one text for each. */
export function settingsAsText(config: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(config).flatMap(([section, values]) =>
      Object.entries(values as object).flatMap(([name, value]) =>
        section === 'metrics' || value === undefined
          ? []
          : [[`${section}.${name}`, typeof value === 'string' ? value : JSON.stringify(value)]],
      ),
    ),
  )
}
