import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { UsageError } from '../../base/errors/index.ts'
import { pythonSinkProgram } from './python-sink-program.ts'
import { chainColumns, type MetricSink, type SinkOptions, type SinkRun } from './sink.ts'

interface Reply {
  ok: boolean
  reason?: string
  missing?: boolean
}

/**
 * Weights & Biases and Trackio, through their own Python libraries: neither has a documented API for writing. They run in a process
 * of their own, so they cannot delay or end this one, and read their own environment variables (WANDB_MODE, TRACKIO_SPACE_ID, …).
 */
export async function openPythonSink(
  library: 'wandb' | 'trackio',
  target: string,
  run: SinkRun,
  { python, environment }: SinkOptions,
): Promise<MetricSink> {
  const start = async (): Promise<Helper> => {
    const helper = new Helper(library, python, environment)
    try {
      await helper.ask({ do: 'open', target, id: run.id, settings: run.settings, whole: run.whole })
      return helper
    } catch (error) {
      helper.kill()
      throw error
    }
  }
  let helper = await start()
  return {
    async send({ points, chains }) {
      if (helper.hasEnded) helper = await start()
      await helper.ask({
        do: 'send',
        points: points.map(({ name, step, value }) => ({ name, step, value })),
        columns: chainColumns,
        chains: chains.map((chain) => chainColumns.map((column) => chain[column])),
      })
    },
    async close(status) {
      await helper.ask({ do: 'close', status })
      helper.end()
    },
  }
}

/** After this time without a reply, a process is ended. What W&B has written by then, `wandb sync` can still upload. */
const ANSWER_MS = 60_000

/** One request at a time, each with one reply. */
class Helper {
  readonly #library: string
  readonly #python: string
  readonly #child: ChildProcessWithoutNullStreams
  #said = ''
  #waiting: { resolve: () => void; reject: (error: Error) => void } | undefined
  #ended: Error | undefined

  constructor(library: string, python: string, environment: Record<string, string | undefined>) {
    this.#library = library
    this.#python = python
    this.#child = spawn(python, ['-c', pythonSinkProgram, library], {
      env: { ...environment, PYTHONUNBUFFERED: '1' },
    })
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#replied(JSON.parse(line)))
    this.#child.stderr.on('data', (data: Buffer) => {
      this.#said = `${this.#said}${data}`.slice(-2000)
    })
    // Reported by the next request.
    this.#child.stdin.on('error', () => {})
    this.#child.on('error', (cause) => this.#gone(`cannot start ${python}: ${cause.message}.`))
    this.#child.on('exit', () =>
      this.#gone(`the Python process ended: ${this.#said.trim().split('\n').at(-1)}`),
    )
  }

  async ask(message: object): Promise<void> {
    if (this.#ended !== undefined) throw this.#ended
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiting = { resolve, reject }
    const timer = setTimeout(() => this.kill(), ANSWER_MS)
    this.#child.stdin.write(`${JSON.stringify(message)}\n`)
    await promise.finally(() => clearTimeout(timer))
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined
  }

  end(): void {
    this.#child.stdin.end()
  }

  kill(): void {
    this.#child.kill()
  }

  #replied({ ok, reason, missing }: Reply): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (ok) waiting?.resolve()
    else if (missing === true)
      waiting?.reject(
        new UsageError(`${this.#python} has no ${this.#library}: ${reason}.`, {
          fix: `Run \`${this.#python} -m pip install ${this.#library}\`, or set metrics.python to a Python that has it.`,
        }),
      )
    else
      waiting?.reject(new UsageError(`${this.#library} failed: ${reason}`, { fix: 'See its documentation.' }))
  }

  #gone(reason: string): void {
    this.#ended = new UsageError(reason, {
      fix: `Set metrics.python to a Python that has ${this.#library}.`,
    })
    this.#waiting?.reject(this.#ended)
    this.#waiting = undefined
  }
}
