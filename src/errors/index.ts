export { ConfigError, GrammarError, StoreError, TokenizerError, UsageError } from './boundaries.ts'
export { type Boundary, CoaError, type CoaErrorOptions } from './coa-error.ts'
