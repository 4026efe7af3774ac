import type { Place } from './conversations.ts'

interface Attempt {
  place: Place
  exchange: number
  state: 'open' | 'answered' | 'failed'
  repeated: boolean
}

/** Equal requests: one that comes after a failure is a retry, which clients' libraries send on their own. */
export class Retries {
  readonly #attempts = new Map<string, Attempt[]>()
  readonly #digests = new Map<string, Set<string>>()

  /** The attempt that an equal request repeats. With `said`, the client says that it repeats one, even if that is still open. */
  find(digest: string, said: boolean): Attempt | undefined {
    const found = this.#attempts
      .get(digest)
      ?.find(({ state, repeated }) => !repeated && (state === 'failed' || (said && state === 'open')))
    if (found !== undefined) found.repeated = true
    return found
  }

  begin(digest: string, place: Place, exchange: number): Attempt {
    const attempt: Attempt = { place, exchange, state: 'open', repeated: false }
    const attempts = this.#attempts.get(digest)
    if (attempts === undefined) this.#attempts.set(digest, [attempt])
    else attempts.push(attempt)
    const digests = this.#digests.get(place.run)
    if (digests === undefined) this.#digests.set(place.run, new Set([digest]))
    else digests.add(digest)
    return attempt
  }

  forget(run: string): void {
    for (const digest of this.#digests.get(run) ?? []) {
      const left = this.#attempts.get(digest)!.filter(({ place }) => place.run !== run)
      if (left.length > 0) this.#attempts.set(digest, left)
      else this.#attempts.delete(digest)
    }
    this.#digests.delete(run)
  }
}
