import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { parseJson } from '../../schema/index.ts'
import type { ChainMessage, JobRequest, JobRow, JobView, LiveChange } from '../api.ts'
import type { JobPlan } from './job-command.ts'
import { OutputLines } from './output-lines.ts'

const MOST_LINES = 2000
const MOST_MESSAGES = 20_000
/** How often output is passed on. */
const FLUSH_MS = 150

export interface JobParts {
  request: JobRequest
  plan: JobPlan
  /** A program and its arguments. */
  words: readonly string[]
  /** The command line as the user would type it. */
  command: string
  onChange: (changes: LiveChange[]) => void
}

/** A command of coa that the studio has started, as a process of its own. */
export class Job {
  readonly id = randomUUID().slice(0, 8)
  readonly #parts: JobParts
  readonly #child: ChildProcess
  readonly #startedAt = new Date().toISOString()
  readonly #lines: string[] = []
  readonly #chain: ChainMessage[] = []
  readonly #ended: Promise<void>
  #newLines: string[] = []
  #newMessages: ChainMessage[] = []
  #flushing: NodeJS.Timeout | undefined
  #state: JobRow['state'] = 'running'
  #endedAt: string | undefined
  #exitCode: number | undefined
  /** The run it works on, once that is known. */
  run: string | undefined

  constructor(parts: JobParts) {
    this.#parts = parts
    this.run = parts.plan.run
    const [program, ...words] = parts.words
    // Its own group, so that Ctrl-C in the terminal of the studio is passed on by the studio alone.
    this.#child = spawn(program!, words, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    const isChain = parts.request.kind === 'ask'
    const out = new OutputLines((line) => (isChain ? this.#message(line) : this.#line(line)), {
      isRaw: isChain,
    })
    const errors = new OutputLines((line) => this.#line(line))
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => out.push(text))
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => errors.push(text))
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => {
        this.#line(`cannot start: ${error.message}`)
        this.#end('failed', undefined)
        resolve()
      })
      this.#child.once('close', (code, signal) => {
        out.end()
        errors.end()
        // A question without an answer has been asked all the same.
        const isAsked = isChain && code === FINDINGS
        this.#end(isAsked ? 'done' : stateOf(code, signal, this.#state), code ?? undefined)
        resolve()
      })
    })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get isRunning(): boolean {
    return this.#endedAt === undefined
  }

  /** Whether it writes to a run. */
  get writes(): boolean {
    return this.#parts.request.kind !== 'ask'
  }

  /** Interrupts it, as Ctrl-C does; a second time, ends it at once. */
  stop(): void {
    if (!this.isRunning) return
    this.#signal(this.#state === 'stopping' ? 'SIGKILL' : 'SIGINT')
    this.#state = 'stopping'
    this.#changed()
  }

  /** Interrupts it and waits, for a while, until it has saved what there is. */
  async end(patienceMs: number): Promise<void> {
    if (!this.isRunning) return
    this.stop()
    const timer = setTimeout(() => this.#signal('SIGKILL'), patienceMs)
    await this.#ended
    clearTimeout(timer)
  }

  row(): JobRow {
    const { request, plan } = this.#parts
    const lastLine = this.#lines.at(-1)
    return {
      id: this.id,
      kind: request.kind,
      title: plan.title,
      state: this.#state,
      startedAt: this.#startedAt,
      ...(this.#endedAt === undefined ? {} : { endedAt: this.#endedAt }),
      ...(this.run === undefined ? {} : { run: this.run }),
      ...(plan.stage === undefined ? {} : { stage: plan.stage }),
      ...(lastLine === undefined ? {} : { lastLine }),
      ...(this.#exitCode === undefined ? {} : { exitCode: this.#exitCode }),
    }
  }

  view(): JobView {
    const { request, command } = this.#parts
    return {
      ...this.row(),
      command,
      request,
      output: [...this.#lines],
      ...(request.kind === 'ask' ? { chain: [...this.#chain] } : {}),
    }
  }

  /** Calls with what has changed, the job itself included. */
  announce(): void {
    this.#changed()
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.#child.pid!, signal)
    } catch {
      // It has ended meanwhile, or was never started.
    }
  }

  #line(line: string): void {
    this.#lines.push(line)
    if (this.#lines.length > MOST_LINES) this.#lines.shift()
    this.#newLines.push(line)
    this.#later()
  }

  #message(line: string): void {
    let message: ChainMessage
    try {
      message = parseJson(line) as ChainMessage
    } catch {
      this.#line(line)
      return
    }
    if (this.#chain.length >= MOST_MESSAGES) return
    this.#chain.push(message)
    this.#newMessages.push(message)
    this.#later()
  }

  #later(): void {
    this.#flushing ??= setTimeout(() => this.#flush(), FLUSH_MS)
  }

  #flush(): void {
    clearTimeout(this.#flushing)
    this.#flushing = undefined
    const [lines, messages] = [this.#newLines.splice(0), this.#newMessages.splice(0)]
    this.#parts.onChange([
      ...(lines.length === 0 ? [] : [{ type: 'output' as const, job: this.id, lines }]),
      ...(messages.length === 0 ? [] : [{ type: 'chain' as const, job: this.id, messages }]),
    ])
  }

  #end(state: JobRow['state'], code: number | undefined): void {
    if (!this.isRunning) return
    this.#state = state
    this.#exitCode = code
    this.#endedAt = new Date().toISOString()
    this.#changed()
  }

  #changed(): void {
    this.#flush()
    this.#parts.onChange([{ type: 'job', job: this.row() }])
  }
}

/** As the exit codes of coa say. */
const INTERRUPTED = 130
const FINDINGS = 3

function stateOf(
  code: number | null,
  signal: NodeJS.Signals | null,
  before: JobRow['state'],
): JobRow['state'] {
  if (code === 0) return 'done'
  return before === 'stopping' || code === INTERRUPTED || signal !== null ? 'interrupted' : 'failed'
}
