import { CoaError, type CoaErrorOptions } from './coa-error.ts'

/** The caller passed something that does not exist or is invalid: a flag, a file name, an argument. */
export class UsageError extends CoaError {
  constructor(message: string, options?: CoaErrorOptions) {
    super('usage', message, options)
  }
}

export class ConfigError extends CoaError {
  constructor(message: string, options?: CoaErrorOptions) {
    super('config', message, options)
  }
}

export class GrammarError extends CoaError {
  constructor(message: string, options?: CoaErrorOptions) {
    super('grammar', message, options)
  }
}

export class TokenizerError extends CoaError {
  constructor(message: string, options?: CoaErrorOptions) {
    super('tokens', message, options)
  }
}

export class StoreError extends CoaError {
  constructor(message: string, options?: CoaErrorOptions) {
    super('store', message, options)
  }
}

/** The sandbox itself failed. Whatever a program does inside it is a result, never an error. */
export class SandboxError extends CoaError {
  constructor(message: string, options?: CoaErrorOptions) {
    super('sandbox', message, options)
  }
}

/**
 * Throw this in a tool of your own to fail with a reason that the model reads. With `passing`, the call is retried.
 *
 * @example
 * import { ToolError } from 'chain-of-agents'
 *
 * export async function fetchOrder(number: number): Promise<string> {
 *   const response = await fetch(`https://shop.example/orders/${number}`)
 *   if (!response.ok) throw new ToolError(`The shop answered ${response.status}.`, { transient: response.status >= 500 })
 *   return response.text()
 * }
 */
export class ToolError extends CoaError {
  /** True if a retry may succeed: a timeout, a busy server. */
  readonly transient: boolean

  constructor(message: string, options: CoaErrorOptions & { transient?: boolean } = {}) {
    super('tool', message, options)
    this.transient = options.transient ?? false
  }
}

/** A model behind an API is unreachable, rejects the request, or returns an unusable response. */
export class ModelError extends CoaError {
  /** True if a retry may succeed: a timeout, a busy server. */
  readonly transient: boolean

  constructor(message: string, options: CoaErrorOptions & { transient?: boolean } = {}) {
    super('model', message, options)
    this.transient = options.transient ?? false
  }
}

/** The engine, or a model that cannot be read, run, trained or written. */
export class EngineError extends CoaError {
  constructor(message: string, options?: CoaErrorOptions) {
    super('engine', message, options)
  }
}
