/** What answer checking needs of a sandbox. The drivers of src/sandbox fit it. */
export interface SandboxRequest {
  language: 'python' | 'javascript'
  code: string
  stdin?: string
  limits?: SandboxLimits
  files?: Record<string, string>
}

export interface SandboxLimits {
  wallMs?: number
  memoryMb?: number
  outputBytes?: number
}

export interface SandboxResult {
  stdout: string
  stderr: string
  exit: number | null
  timedOut: boolean
  truncated: boolean
  ms: number
}

/** `run` throws only when the sandbox itself cannot be used, never because of the program in it. */
export interface CodeSandbox {
  run(request: SandboxRequest, options?: { signal?: AbortSignal }): Promise<SandboxResult>
}
