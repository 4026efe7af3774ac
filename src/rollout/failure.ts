import { CoaError } from '../errors/index.ts'

/** Something outside of the model that went wrong: such a rollout says nothing about the model. */
export interface Failure {
  boundary: string
  message: string
}

export function failureOf(error: unknown): Failure {
  if (CoaError.isInstance(error)) return { boundary: error.boundary, message: error.message }
  return { boundary: 'unknown', message: error instanceof Error ? error.message : String(error) }
}
