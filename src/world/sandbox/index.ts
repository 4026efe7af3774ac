export { BubblewrapDriver, type BubblewrapOptions, openBubblewrap } from './bubblewrap/driver.ts'
export {
  DriverName,
  Language,
  type ResolvedRequest,
  type RunOptions,
  type SandboxDriver,
  SandboxLimits,
  SandboxRequest,
  type SandboxResult,
} from './contract.ts'
export { openSandbox, type Sandbox, type SandboxDescription, type SandboxOptions } from './open-sandbox.ts'
export { openPyodide } from './pyodide/driver.ts'
export { openQuickjs } from './quickjs/driver.ts'
