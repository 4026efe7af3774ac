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
