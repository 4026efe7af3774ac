import { once } from 'node:events'
import type { StageContext } from '../../stage.ts'
import { journalsIn, Recording } from './recording.ts'
import type { RunStatus } from './run-status.ts'
import { startServer } from './server.ts'
import { UpstreamUrl } from './upstream-url.ts'
import { writeRun } from './write-run.ts'

export interface RecordConfig {
  language: { grammar?: string | undefined }
}

export interface RecordOptions {
  upstream: string
  host: string
  port: number
  idleSeconds: number
  exclude: readonly RegExp[]
  tokenIds: boolean
  /** Called with the gateway's address once it accepts requests. */
  onReady?: (url: string) => void
}

export interface RecordSummary {
  figures: Record<string, number>
  runs: RunStatus[]
}

/** How often runs are checked for being idle. */
const CHECK_MS = 1000

/** Runs the gateway until the signal: then it finishes what is in progress and completes all runs. */
export async function recordRuns(
  { run, config, observe, signal, onFinding = () => {} }: StageContext<RecordConfig>,
  { upstream, host, port, idleSeconds, exclude, tokenIds, onReady }: RecordOptions,
): Promise<RecordSummary> {
  const domain = config.language.grammar ?? 'open'
  const started = Date.now().toString(36)
  let unnamed = 0
  let done = 0
  const problems = new Set<string>()
  const onProblem = (problem: string): void => {
    try {
      run.log(`record: ${problem}`)
    } catch {
      // On a full disk, the log cannot be written either.
    }
    if (!problems.has(problem)) onFinding(problem)
    problems.add(problem)
  }
  const recording = new Recording({
    folder: journalsIn(run.dir),
    idleMs: idleSeconds * 1000,
    exclude,
    newId: () => `conversation-${started}-${++unnamed}`,
    onComplete: (entries) => {
      const written = writeRun(run, domain, entries)
      observe({ stage: 'record', done: ++done, unit: 'runs' })
      return written
    },
    onProblem,
  })
  const server = await startServer({
    upstream: new UpstreamUrl(upstream),
    host,
    port,
    tokenIds,
    recording,
    onProblem,
  })
  onReady?.(server.url)
  const checking = setInterval(() => recording.completeIdle(Date.now()), CHECK_MS)
  if (!signal.aborted) await once(signal, 'abort')
  clearInterval(checking)
  await server.close()
  await recording.settled()
  recording.completeIdle(Date.now(), 0)
  return summaryOf(recording.status())
}

function summaryOf(runs: RunStatus[]): RecordSummary {
  const sum = (of: (run: RunStatus) => number): number => runs.reduce((total, run) => total + of(run), 0)
  return {
    figures: {
      runs: runs.filter(({ state }) => state === 'complete').length,
      calls: sum(({ calls }) => calls),
      errors: sum(({ errors }) => errors),
      retries: sum(({ retries }) => retries),
      excluded: sum(({ excluded }) => excluded),
      'prompt tokens': sum(({ promptTokens }) => promptTokens),
      'completion tokens': sum(({ completionTokens }) => completionTokens),
    },
    runs,
  }
}
