import type { Rollout, Span } from '../../schema/index.ts'

/**
 * Translates an engine's weight versions into training steps, so that every sampled token knows the policy it came from.
 * Weights in the middle of a step, between two of its updates, count as those before it.
 */
export class PolicySteps {
  /** Steps trained so far. */
  #current: number
  /** The engine's version before the first update: that of the first sample, which must come before any update. */
  #base: number | undefined
  #updates = 0
  /** After how many updates each step was complete. */
  readonly #ends: { updates: number; step: number }[]

  constructor(step: number) {
    this.#current = step
    this.#ends = [{ updates: 0, step }]
  }

  get current(): number {
    return this.#current
  }

  /** Called before an update, because tokens may come from the new weights before its result arrives. */
  updating(completedStep?: number): void {
    this.#updates++
    if (completedStep !== undefined) this.#ends.push({ updates: this.#updates, step: completedStep })
  }

  /** The step is complete, whether or not it had an update. */
  trained(step: number): void {
    this.#current = step
    if (this.#ends.at(-1)!.step !== step) this.#ends.push({ updates: this.#updates, step })
  }

  /** The step of weights with this version; without one, the current step. */
  stepOf(version?: number): number {
    if (version === undefined) return this.#current
    this.#base ??= version
    const updates = version - this.#base
    return this.#ends.findLast((end) => end.updates <= updates)!.step
  }
}

/** A rollout in which every sampled token has a policy: `step`, where the engine did not say. */
export function withPolicies(rollout: Rollout, step: number): Rollout {
  const spans = rollout.spans.map((span) =>
    !isSampled(span) || span.policies !== undefined
      ? span
      : { ...span, policies: [{ step, tokens: span.tokens!.length }] },
  )
  return { ...rollout, spans }
}

/** The policies of a rollout's sampled tokens in order, as runs. */
export function policiesOf({ spans }: Pick<Rollout, 'spans'>): { step: number; tokens: number }[] {
  return spans.flatMap((span) => (isSampled(span) ? (span.policies ?? []) : []))
}

function isSampled({ origin, tokens }: Span): boolean {
  return 'request' in origin && tokens !== undefined && tokens.length > 0
}
