import type { JobRequest, JobRow, JobView, LiveChange } from '../api.ts'
import { Problem } from '../problem.ts'
import { Job } from './job.ts'
import { type PlanContext, planOf } from './job-command.ts'

const MOST_RUNNING = 8
const MOST_KEPT = 100
/** Training saves its state when it is interrupted. */
const PATIENCE_MS = 30_000
/** How often it is looked up which run a job works on. */
const LOOKUP_MS = 500

export interface JobsParts extends PlanContext {
  /** What starts coa: a program and the words before the command. */
  launcher: readonly string[]
  /** The words of a command with the options that all commands get. */
  wordsOf: (words: readonly string[]) => string[]
  commandLine: (words: readonly string[]) => string
  /** Throws if the settings of a request are not valid. */
  checkSettings: (request: JobRequest) => void
  /** The run that a process is writing. */
  runOf: (pid: number) => string | undefined
  onChange: (changes: LiveChange[]) => void
}

/** What the studio has started. */
export class Jobs {
  readonly #parts: JobsParts
  readonly #jobs = new Map<string, Job>()
  #looking: NodeJS.Timeout | undefined

  constructor(parts: JobsParts) {
    this.#parts = parts
  }

  start(request: JobRequest): JobRow {
    const running = [...this.#jobs.values()].filter((job) => job.isRunning)
    if (running.length >= MOST_RUNNING)
      throw new Problem(429, `${running.length} jobs are running`, {
        code: 'busy',
        fix: 'Stop one of them first.',
      })
    this.#parts.checkSettings(request)
    const plan = planOf(request, this.#parts)
    const writes = request.kind === 'resume' || request.kind === 'stage'
    if (writes && running.some((job) => job.run === plan.run && plan.run !== undefined && job.writes))
      throw new Problem(409, `a job is already working on ${plan.run}`)
    const { launcher, wordsOf, commandLine, onChange } = this.#parts
    const job = new Job({
      request,
      plan,
      words: [...launcher, ...wordsOf(plan.words)],
      command: commandLine(plan.words),
      onChange,
    })
    this.#jobs.set(job.id, job)
    this.#forgetOld()
    this.#looking ??= setInterval(() => this.#lookUp(), LOOKUP_MS)
    job.announce()
    return job.row()
  }

  list(): JobRow[] {
    return [...this.#jobs.values()].reverse().map((job) => job.row())
  }

  view(id: string): JobView {
    return this.#get(id).view()
  }

  stop(id: string): JobRow {
    const job = this.#get(id)
    job.stop()
    return job.row()
  }

  /** Running jobs by run. */
  byRun(): Record<string, string> {
    return Object.fromEntries(
      [...this.#jobs.values()].flatMap((job) =>
        job.isRunning && job.writes && job.run !== undefined ? [[job.run, job.id]] : [],
      ),
    )
  }

  /** Interrupts all of them and waits. */
  async close(): Promise<void> {
    clearInterval(this.#looking)
    await Promise.all([...this.#jobs.values()].map((job) => job.end(PATIENCE_MS)))
  }

  #get(id: string): Job {
    const job = this.#jobs.get(id)
    if (job === undefined) throw new Problem(404, `there is no job ${JSON.stringify(id.slice(0, 50))}`)
    return job
  }

  /** A job that makes a new run holds its lock. */
  #lookUp(): void {
    const running = [...this.#jobs.values()].filter((job) => job.isRunning)
    if (running.length === 0) {
      clearInterval(this.#looking)
      this.#looking = undefined
      return
    }
    for (const job of running) {
      if (job.run !== undefined || !job.writes || job.pid === undefined) continue
      job.run = this.#parts.runOf(job.pid)
      if (job.run !== undefined) job.announce()
    }
  }

  #forgetOld(): void {
    for (const [id, job] of this.#jobs) {
      if (this.#jobs.size <= MOST_KEPT) return
      if (!job.isRunning) this.#jobs.delete(id)
    }
  }
}
