import type { ModelAnswer } from '../../../logs/index.ts'

/** What is known of a run while it is recorded. */
export interface RunStatus {
  run: string
  /** `empty` is complete without any call that may be recorded; `failed` could not be written. */
  state: 'open' | 'complete' | 'empty' | 'failed'
  agents: Record<string, number>
  calls: number
  errors: number
  retries: number
  excluded: number
  promptTokens: number
  completionTokens: number
}

export class RunTally {
  readonly #agents = new Map<string, number>()
  readonly #counts = { calls: 0, errors: 0, retries: 0, excluded: 0, promptTokens: 0, completionTokens: 0 }

  begin(agent: string, isRetry: boolean, isExcluded: boolean): void {
    this.#counts.calls++
    if (isRetry) this.#counts.retries++
    if (isExcluded) this.#counts.excluded++
    this.#agents.set(agent, (this.#agents.get(agent) ?? 0) + 1)
  }

  end({ error, tokens }: ModelAnswer, isExcluded = false): void {
    if (isExcluded) this.#counts.excluded++
    if (error !== undefined) this.#counts.errors++
    this.#counts.promptTokens += tokens?.prompt ?? 0
    this.#counts.completionTokens += tokens?.completion ?? 0
  }

  status(run: string, state: RunStatus['state']): RunStatus {
    return { run, state, agents: Object.fromEntries(this.#agents), ...this.#counts }
  }
}
