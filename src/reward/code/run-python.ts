import { randomBytes } from 'node:crypto'
import type { CodeLimits, CodeResult, CodeSandbox } from './code-sandbox.ts'

export interface RunSettings {
  sandbox: CodeSandbox
  limits: CodeLimits
  signal?: AbortSignal | undefined
}

/** What a program of ours reported, or why it reported nothing. */
export type Report = { data: unknown } | { failure: string; result: CodeResult }

/** Runs a program of ours with a payload, and reads the line it reports on. */
export async function runReporting(
  code: string,
  payload: Record<string, unknown>,
  { sandbox, limits, signal }: RunSettings,
): Promise<Report> {
  const boundary = `report-${randomBytes(12).toString('hex')}:`
  const result = await sandbox.run(
    { language: 'python', code, stdin: JSON.stringify({ ...payload, boundary }), limits },
    signal === undefined ? {} : { signal },
  )
  const at = result.stdout.lastIndexOf(boundary)
  if (result.timedOut) return { failure: `took longer than ${limits.wallMs ?? '?'} ms`, result }
  if (at < 0) return { failure: failureOf(result), result }
  try {
    const line = result.stdout.slice(at + boundary.length).split('\n', 1)[0]!
    return { data: JSON.parse(line) as unknown }
  } catch {
    return { failure: 'its report could not be read', result }
  }
}

export function failureOf(result: CodeResult): string {
  if (result.timedOut) return 'took too long'
  if (result.truncated) return 'wrote too much'
  const lastLine = result.stderr.trim().split('\n').at(-1) ?? ''
  if (lastLine !== '') return lastLine.slice(0, 200)
  return result.exit === 0 ? 'ended before it gave a result' : `ended with ${result.exit ?? 'a signal'}`
}
