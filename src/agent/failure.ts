import { CoaError, type Failure } from '../base/errors/index.ts'

export type { Failure }

/** A failure outside the model: such a rollout says nothing about it. */
export function failureOf(error: unknown): Failure {
  if (CoaError.isInstance(error)) return { boundary: error.boundary, message: error.message }
  return { boundary: 'unknown', message: error instanceof Error ? error.message : String(error) }
}
