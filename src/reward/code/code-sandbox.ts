import type { RunOptions, SandboxRequest, SandboxResult } from '../../world/sandbox/index.ts'

/** Limits per run; the sandbox's defaults apply to the rest. */
export type CodeLimits = NonNullable<SandboxRequest['limits']>

/** The result of a run. The driver does not matter to a verdict. */
export type CodeResult = Omit<SandboxResult, 'driver'>

/** The part of a sandbox that answer checking needs: one from openSandbox, or a fake in tests. */
export interface CodeSandbox {
  /** Throws only if the sandbox itself fails, never because of the program in it. */
  run(request: SandboxRequest, options?: RunOptions): Promise<CodeResult>
}
