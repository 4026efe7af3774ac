import type { Witness } from './relay.ts'

/**
 * A witness whose failures do not reach the app: what cannot be recorded, for example because the disk is full, is reported and
 * passed on all the same.
 */
export function harmless(begin: () => Witness, onProblem: (problem: string) => void): Witness {
  const safely = <T>(work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      onProblem(`a call could not be recorded: ${(error as Error).message}`)
      return undefined
    }
  }
  const witness = safely(begin)
  return {
    response: (status, streamed) => safely(() => witness?.response(status, streamed)),
    body: (bytes) => safely(() => witness?.body(bytes)),
    end: (ending) => safely(() => witness?.end(ending)),
  }
}
