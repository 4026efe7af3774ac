import { spawn } from 'node:child_process'

export interface ProgramResult {
  /** Null if it could not be started or was killed. */
  code: number | null
  output: string
  failure?: string
}

/** Runs a program asynchronously to completion. */
export function runProgram(
  command: string,
  args: readonly string[],
  options: { environment?: Record<string, string | undefined>; signal?: AbortSignal | undefined } = {},
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(options.environment === undefined ? {} : { env: options.environment }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    })
    const parts: Buffer[] = []
    child.stdout.on('data', (part: Buffer) => parts.push(part))
    child.stderr.on('data', (part: Buffer) => parts.push(part))
    const output = (): string => Buffer.concat(parts).toString().trim()
    child.on('error', (cause) => resolve({ code: null, output: output(), failure: cause.message }))
    child.on('close', (code) => resolve({ code, output: output() }))
  })
}

/** The end of a program's output, where the reason usually is. */
export function lastLines({ output, failure }: ProgramResult, count = 3): string {
  return failure ?? output.split('\n').slice(-count).join(' ').slice(-500)
}
