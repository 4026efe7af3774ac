import { CoaError, type CoaErrorOptions } from './coa-error.ts'

/** The caller asked for something that does not exist or does not fit: a flag, a file name, an argument. */
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

/** The sandbox itself cannot be used; what a program inside it does is never an error, but a result. */
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
 *   if (!response.ok) throw new ToolError(`The shop answered ${response.status}.`, { passing: response.status >= 500 })
 *   return response.text()
 * }
 */
export class ToolError extends CoaError {
  /** True when trying again may help: a time-out, a busy server. */
  readonly passing: boolean

  constructor(message: string, options: CoaErrorOptions & { passing?: boolean } = {}) {
    super('tool', message, options)
    this.passing = options.passing ?? false
  }
}

/** A model behind an API: out of reach, refusing, or answering in a form that cannot be used. */
export class ModelError extends CoaError {
  /** True when trying again may help: a time-out, a busy server. */
  readonly passing: boolean

  constructor(message: string, options: CoaErrorOptions & { passing?: boolean } = {}) {
    super('model', message, options)
    this.passing = options.passing ?? false
  }
}

/** The engine or what it works on: a model that cannot be read, run, trained or written. */
export class EngineError extends CoaError {
  constructor(message: string, options?: CoaErrorOptions) {
    super('engine', message, options)
  }
}
