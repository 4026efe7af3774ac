import { CoaError, type Failure } from '../base/errors/index.ts'

export type { Failure }

/** Something outside of the model that went wrong: such a rollout says nothing about the model. */
export function failureOf(error: unknown): Failure {
  if (CoaError.isInstance(error)) return { boundary: error.boundary, message: error.message }
  return { boundary: 'unknown', message: error instanceof Error ? error.message : String(error) }
}
