import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { Funnel } from '../../stages/filter/funnel.ts'
import { readFunnel } from '../../stages/filter/selection-files.ts'
import { describeDamage, listRuns, type RunSummary, runFiles, summarizeRun } from '../../store/index.ts'
import type { Figure, FilterView, FunnelView, Page, RunOverview, RunRow, RunState } from '../api.ts'
import type { Metrics } from './metrics.ts'
import type { OpenRun, OpenRuns } from './open-runs.ts'
import { cursorOf, type Query } from './query.ts'
import { isOwn } from './run-folder.ts'
import type { RunIndex } from './run-index.ts'

/** Jobs of this studio by the run they work on. */
export type JobsByRun = Readonly<Record<string, string>>

const LOG_BYTES = 16_384
const LOG_LINES = 50

export function runs(open: OpenRuns, query: Query, jobs: JobsByRun): Page<RunRow> {
  const all = listRuns(open.folder).filter(({ dir }) => isOwn(dir, 'folder'))
  const after = query.cursor?.[0]
  // By id, because runs may be added in front meanwhile.
  const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1
  const shown = all.slice(from, from + query.limit)
  const last = shown.at(-1)
  return {
    rows: shown.map((summary) => rowOf(summary, jobs)),
    ...(last !== undefined && from + shown.length < all.length ? { next: cursorOf(last.id) } : {}),
    total: all.length,
  }
}

export function runRow(open: OpenRuns, id: string, jobs: JobsByRun): RunRow {
  return rowOf(summarizeRun(open.dirOf(id)), jobs)
}

function rowOf(summary: RunSummary, jobs: JobsByRun): RunRow {
  const { id, bytes, createdAt, command, counts, problem, stages = {} } = summary
  const state = stateOf(summary)
  const unfinished = Object.entries(stages).findLast(([, { status }]) => status !== 'done')
  const headline = headlineOf(stages)
  const job = Object.hasOwn(jobs, id) ? jobs[id] : undefined
  return {
    id,
    state,
    bytes,
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(command === undefined ? {} : { command }),
    ...(unfinished === undefined ? {} : { stage: unfinished[0] }),
    ...(counts === undefined ? {} : { counts }),
    ...(headline === undefined ? {} : { headline }),
    ...(problem === undefined ? {} : { problem }),
    ...(job === undefined ? {} : { job }),
    canResume: (state === 'interrupted' || state === 'failed') && isResumable(command, unfinished?.[0]),
  }
}

/** As `coa run resume` decides. */
function isResumable(command: string | undefined, stage: string | undefined): boolean {
  return stage === 'sft' || stage === 'rl' || command === 'coa quickstart'
}

function stateOf({ problem, lockedBy, stages = {} }: RunSummary): RunState {
  if (problem !== undefined) return 'damaged'
  if (lockedBy !== undefined) return 'running'
  const statuses = Object.values(stages).map(({ status }) => status)
  if (statuses.includes('failed')) return 'failed'
  // Without a lock, what is "running" was killed.
  return statuses.some((status) => status !== 'done') ? 'interrupted' : 'idle'
}

/** The figures of finished stages that say most, the last stage first. */
const headlines: readonly (readonly [stage: string, figure: string, label: string, unit: Figure['unit']])[] =
  [
    ['eval', 'rl: accuracy', 'accuracy after RL', 'share'],
    ['eval', 'sft: accuracy', 'accuracy after SFT', 'share'],
    ['rl', 'eval accuracy', 'accuracy in RL', 'share'],
    ['rl', 'pass rate at last', 'correct in the last RL steps', 'share'],
    ['sft', 'best eval loss', 'held-out loss', 'number'],
    ['sft', 'loss', 'loss', 'number'],
    ['filter', 'kept', 'sequences kept', 'count'],
    ['distill', 'sequences', 'sequences', 'count'],
    ['teach', 'correct', 'correct team runs', 'count'],
  ]

function headlineOf(stages: NonNullable<RunSummary['stages']>): Figure | undefined {
  for (const [stage, figure, label, unit] of headlines) {
    const value = stages[stage]?.summary[figure]
    if (typeof value === 'number') return { label, value, unit }
  }
  return undefined
}

export function overview(runsOpen: OpenRuns, id: string, metrics: Metrics, jobs: JobsByRun): RunOverview {
  const open = runsOpen.get(id)
  const { run, index } = open
  const row = runRow(runsOpen, id, jobs)
  const { coa, stages } = run.manifest
  const evals = run.list('eval')
  const funnel = funnelOf(open)
  const indexing = index.indexing()
  return {
    ...row,
    counts: row.counts ?? index.counts(),
    coa,
    stages: Object.entries(stages).map(([name, { status, startedAt, endedAt, summary }]) => ({
      name,
      // Killed, if nobody writes to the run.
      status: status === 'running' && row.state !== 'running' ? 'interrupted' : status,
      startedAt,
      ...(endedAt === undefined ? {} : { endedAt }),
      figures: summary,
    })),
    figures: [
      ...(row.headline === undefined ? [] : [row.headline]),
      ...(evals.at(-1)?.solvers ?? []).map(
        ({ name, accuracy }): Figure => ({ label: `accuracy: ${name}`, unit: 'share', ...accuracy.strict }),
      ),
    ],
    ...(funnel === undefined ? {} : { funnel }),
    findings: metrics.findings(id),
    notes: describeDamage(run.recovery),
    evals: evals.map((report) => report.id),
    log: logLines(run.dir),
    ...(indexing === undefined ? {} : { indexing }),
  }
}

export function filterView(open: OpenRun): FilterView {
  const funnel = funnelOf(open)
  return { ...(funnel === undefined ? {} : { funnel }), marks: markCounts(open.index) }
}

function markCounts(index: RunIndex): FilterView['marks'] {
  const rows = index.all<{ rating: string; n: number }>(
    "SELECT rating, count(*) AS n FROM mark WHERE rating <> 'none' GROUP BY rating",
  )
  const count = (rating: string): number => rows.find((row) => row.rating === rating)?.n ?? 0
  return { good: count('good'), bad: count('bad') }
}

function funnelOf({ run }: OpenRun): FunnelView | undefined {
  const funnel: Funnel | undefined = readFunnel(run)
  if (funnel === undefined) return undefined
  const { sequences, kept, copies, unchecked, stages, reasons, suites, tools, settings } = funnel
  return {
    sequences,
    kept,
    copies,
    ...(unchecked === undefined ? {} : { unchecked }),
    stages: stages.map(({ name, before, after }) => ({ name, before, after })),
    reasons: reasons.map(({ stage, reason, count }) => ({ stage, reason, count })),
    suites,
    tools: tools.map(({ tool, calls }) => ({ tool, calls })),
    settings,
  }
}

function logLines(dir: string): string[] {
  const { log } = runFiles(dir)
  return isOwn(log, 'file') ? linesFrom(log, -LOG_BYTES).lines.slice(-LOG_LINES) : []
}

/** The complete lines after a position, or, if it is negative, in so many bytes at the end; and where they end. */
export function linesFrom(file: string, position: number): { lines: string[]; end: number } {
  const fd = openSync(file, 'r')
  try {
    const { size } = fstatSync(fd)
    const from = position < 0 ? Math.max(0, size + position) : Math.min(position, size)
    const bytes = Buffer.alloc(Math.min(size - from, 4 * LOG_BYTES))
    const read = readSync(fd, bytes, 0, bytes.length, from)
    const text = bytes.subarray(0, read).toString()
    const last = text.lastIndexOf('\n')
    const lines = text.slice(0, Math.max(0, last)).split('\n')
    if (position < 0 && from > 0) lines.shift()
    const end = from + Buffer.byteLength(text.slice(0, last + 1))
    return { lines: lines.filter((line) => line !== ''), end }
  } finally {
    closeSync(fd)
  }
}
