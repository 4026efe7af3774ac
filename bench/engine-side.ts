import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface, type Interface } from 'node:readline'

/**
 * One side of the engine benchmark: a process that answers each JSON line with a JSON line, and is stopped in
 * between.
 */
export class Side {
  readonly #child: ChildProcess
  readonly #lines: Interface
  readonly #answers: AsyncIterator<string>

  constructor(command: string, args: string[], environment: Record<string, string> = {}) {
    this.#child = spawn(command, args, {
      env: { ...process.env, ...environment },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#lines = createInterface({ input: this.#child.stdout! })
    this.#answers = this.#lines[Symbol.asyncIterator]()
  }

  async ask<T>(request: object): Promise<T> {
    this.#child.kill('SIGCONT')
    this.#child.stdin!.write(`${JSON.stringify(request)}\n`)
    const { value, done } = await this.#answers.next()
    if (done === true) throw new Error('the process exited before it responded')
    // Waiting threads may spin and would take a core from the other side.
    this.#child.kill('SIGSTOP')
    const answer = JSON.parse(value as string) as T & { error?: string }
    if (answer.error !== undefined) throw new Error(answer.error)
    return answer
  }

  close(): void {
    this.#lines.close()
    this.#child.kill('SIGKILL')
  }
}
