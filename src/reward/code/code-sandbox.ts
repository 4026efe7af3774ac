import type { RunOptions, SandboxRequest, SandboxResult } from '../../world/sandbox/index.ts'

/** Of one run; what is left out is the sandbox's default. */
export type CodeLimits = NonNullable<SandboxRequest['limits']>

/** What came of a run. Which driver it ran on does not matter to a verdict. */
export type CodeResult = Omit<SandboxResult, 'driver'>

/** What answer checking needs of a sandbox: that of openSandbox, or a stand-in in tests. */
export interface CodeSandbox {
  /** Throws only when the sandbox itself cannot be used, never because of the program in it. */
  run(request: SandboxRequest, options?: RunOptions): Promise<CodeResult>
}
