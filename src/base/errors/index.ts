export {
  ConfigError,
  EngineError,
  GrammarError,
  ModelError,
  SandboxError,
  StoreError,
  TokenizerError,
  ToolError,
  UsageError,
} from './boundaries.ts'
export { type Boundary, CoaError, type CoaErrorOptions } from './coa-error.ts'
export { Interrupted } from './interrupted.ts'
export { nearestName } from './nearest-name.ts'
export { allFailed, type Failure, reasonText } from './reasons.ts'
export { redact, registerSecret, withoutSecrets } from './secrets.ts'
