import { redact } from './secrets.ts'

/**
 * The error model. Every foreseeable failure is a CoaError with one line that says what is wrong (`message`) and one
 * that says what to do (`fix`). The boundary names the part that failed, so that a runner can record a bad item as
 * data and continue.
 */
export type Boundary =
  | 'usage'
  | 'config'
  | 'grammar'
  | 'tokens'
  | 'store'
  | 'model'
  | 'tool'
  | 'sandbox'
  | 'engine'

const marker = Symbol.for('chain-of-agents.error')

export interface CoaErrorOptions {
  /** What the user should do about it: an imperative sentence. */
  fix?: string
  cause?: unknown
  /** Plain data for programs that handle the error, such as a path or a position. */
  details?: Record<string, unknown>
}

/**
 * Every failure that coa anticipates: `message` says what is wrong, `fix` what to do about it, and `boundary` which part of the
 * world failed.
 *
 * @example
 * import { CoaError, openRun } from 'chain-of-agents'
 *
 * try {
 *   openRun('runs/missing')
 * } catch (error) {
 *   if (!CoaError.isInstance(error)) throw error
 *   console.error(`${error.boundary}: ${error.message} ${error.fix ?? ''}`)
 * }
 */
export class CoaError extends Error {
  readonly boundary: Boundary
  readonly fix: string | undefined
  readonly details: Record<string, unknown>

  constructor(boundary: Boundary, message: string, options: CoaErrorOptions = {}) {
    // Errors end up in logs and on screen: keys and passwords must not.
    super(redact(message), options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.boundary = boundary
    this.fix = options.fix === undefined ? undefined : redact(options.fix)
    this.details = options.details ?? {}
    Object.defineProperty(this, marker, { value: true })
  }

  /** Also true for errors from another loaded copy of this package, where `instanceof` fails. */
  static isInstance(value: unknown): value is CoaError {
    return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[marker] === true
  }

  toJSON(): Record<string, unknown> {
    return {
      name: this.name,
      boundary: this.boundary,
      message: this.message,
      ...(this.fix === undefined ? {} : { fix: this.fix }),
      ...(Object.keys(this.details).length === 0 ? {} : { details: this.details }),
    }
  }
}
