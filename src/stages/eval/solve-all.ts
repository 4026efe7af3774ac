import { inParallel } from '../../base/concurrency/index.ts'
import { allFailed, CoaError, reasonText, UsageError } from '../../base/errors/index.ts'
import type { Observe } from '../../base/progress/index.ts'
import { seedOf } from '../../base/random/index.ts'
import type { Task } from '../../schema/index.ts'
import type { ProjectSection } from '../../settings/index.ts'
import type { Run } from '../../store/index.ts'
import { isMemoryOnly } from '../../tasks/index.ts'
import { type AttemptJob, attemptId, attemptRecord } from './attempts.ts'
import type { Attempt, Solver } from './contract.ts'
import type { EvalSection } from './settings.ts'

export interface SolveAllContext {
  run: Run
  tasks: readonly Task[]
  solvers: readonly Solver[]
  signal: AbortSignal
  observe: Observe
  shard?: Shard
  /**
   * Keep the tasks and the full records: rollouts and trajectories. Not in a run that is trained on later, because
   * these are evaluation tasks.
   */
  keep?: boolean
  /** Called with the reasons for failed attempts. */
  onFinding?: ((text: string) => void) | undefined
}

/** One retry, because external failures are often temporary. */
const MOST_TRIES = 2

/**
 * Runs every solver on every task and stores each attempt as soon as it is done. If interrupted, the next call makes the attempts
 * that are missing or failed for a reason outside the solver. The seed of an attempt depends only on the task and its number.
 *
 * @example
 * import { createRun, ProjectConfig, type Solver, solveAll } from 'chain-of-agents'
 * import type { Task } from 'chain-of-agents/schema'
 *
 * export async function compare(tasks: Task[], solvers: Solver[]) {
 *   using run = createRun('runs', { command: 'compare', coa: '0.1.0' })
 *   const signal = AbortSignal.timeout(600_000)
 *   await solveAll(ProjectConfig.parse({}), { run, tasks, solvers, signal, observe: () => {} })
 * }
 */
export async function solveAll(
  config: { project: ProjectSection; eval: EvalSection },
  context: SolveAllContext,
): Promise<void> {
  const { run, tasks, signal, observe, keep = true } = context
  refuseDuplicates(
    tasks.map(({ id }) => id),
    'tasks',
  )
  const jobs = jobsOf(config, context)
  const total = jobs.length
  const open = jobs.filter((job) => !isDone(run, job))
  if (keep) keepTasks(run, open)
  let done = total - open.length
  await inParallel(open, config.eval.concurrency, async (job) => {
    const { attempt, tries } = await tryTwice(job, signal)
    signal.throwIfAborted()
    const { written } = attempt
    const isKept = keep && !isMemoryOnly(job.task)
    // The referenced record first: if killed in between, the attempt is repeated.
    if (isKept && written?.kind === 'rollout') run.append('rollout', written.record)
    if (isKept && written?.kind === 'trajectory') run.append('trajectory', written.record)
    run.append('attempt', attemptRecord(job, attempt, tries, isKept))
    observe({ stage: `eval ${job.solver.name}`, done: ++done, total, unit: 'attempts' })
  })
  for (const solver of context.solvers) reportFailures(context, solver.name, jobs)
}

/** A solver whose attempts all failed has no accuracy, not even 0%. */
function reportFailures(
  { run, onFinding }: SolveAllContext,
  solver: string,
  jobs: readonly AttemptJob[],
): void {
  const own = jobs.filter((job) => job.solver.name === solver)
  const failures = own.flatMap(({ id }) => run.get('attempt', id)?.failure ?? [])
  if (failures.length === 0) return
  if (failures.length === own.length)
    throw allFailed(`attempts of ${solver}`, failures, 'Fix the cause, then run the same command again.')
  const reasons = reasonText(failures.map(({ message }) => message))
  onFinding?.(`${failures.length} of ${own.length} attempts of ${solver} failed: ${reasons}`)
}

function jobsOf(
  { project, eval: { attempts } }: { project: ProjectSection; eval: EvalSection },
  { tasks, solvers, shard = { number: 1, of: 1 } }: SolveAllContext,
): AttemptJob[] {
  refuseDuplicates(
    solvers.map(({ name }) => name),
    'solvers',
  )
  return solvers.flatMap((solver) =>
    tasks.flatMap((task, position) =>
      !isInShard(position, shard)
        ? []
        : Array.from({ length: attempts }, (_, attempt) => ({
            id: attemptId(solver.name, task.id, attempt),
            solver,
            task,
            position,
            attempt,
            seed: seedOf('eval', project.seed, task.id, attempt),
          })),
    ),
  )
}

function refuseDuplicates(names: readonly string[], of: string): void {
  const duplicate = names.find((name, at) => names.indexOf(name) !== at)
  if (duplicate === undefined) return
  throw new UsageError(`two ${of} are named ${duplicate}`, { fix: 'Give each a unique name.' })
}

/** Attempts made with other settings must not be mixed with these. */
function isDone(run: Run, { id, solver, seed, position }: AttemptJob): boolean {
  const known = run.get('attempt', id)
  if (known === undefined) return false
  if (known.seed === seed && known.how === solver.how && known.position === position)
    return known.failure === undefined
  throw new UsageError(`run ${run.id} has attempts of ${solver.name} that were made with other settings`, {
    fix: 'Name another run with --run, or start one with --fresh.',
  })
}

function keepTasks(run: Run, jobs: readonly AttemptJob[]): void {
  const tasks = new Map(jobs.map(({ task }) => [task.id, task]))
  for (const task of tasks.values()) {
    if (isMemoryOnly(task) || run.has('task', task.id)) continue
    run.append('task', { ...task, meta: { ...task.meta, for: 'eval' } })
  }
}

async function tryTwice(
  { solver, task, attempt: number, seed }: AttemptJob,
  signal: AbortSignal,
): Promise<{ attempt: Attempt; tries: number }> {
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted()
    const attempt = await solver.solve(task, number, seed, signal).catch((error: unknown) => {
      signal.throwIfAborted()
      return failed(error)
    })
    if (attempt.failure === undefined || tries === MOST_TRIES) return { attempt, tries }
  }
}

function failed(error: unknown): Attempt {
  const boundary = CoaError.isInstance(error) ? error.boundary : 'unknown'
  const message = error instanceof Error ? error.message : String(error)
  return {
    verdict: { outcome: 'undecided', checker: 'none', evidence: 'there was nothing to check' },
    tokens: { prompt: 0, completion: 0, tool: 0, once: 0, billed: 0 },
    calls: 0,
    requests: 0,
    ms: 0,
    failure: { boundary, message },
  }
}

/** One of several parts of the tasks, from 1. */
export interface Shard {
  number: number
  of: number
}

/** "2/4" is the second of four. */
export function parseShard(text: string): Shard {
  const found = /^(\d+)\/(\d+)$/.exec(text.trim())
  const [number, of] = [Number(found?.[1]), Number(found?.[2])]
  if (found !== null && number >= 1 && number <= of) return { number, of }
  throw new UsageError(`"${text}" is not a shard`, {
    fix: 'Write it as 2/4: the second of four.',
  })
}

/** Tasks are assigned round-robin, so that every shard has all suites and levels. */
function isInShard(position: number, { number, of }: Shard): boolean {
  return position % of === number - 1
}
