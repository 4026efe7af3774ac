import { randomBytes } from 'node:crypto'
import type { CodeLimits, CodeResult, CodeSandbox } from './code-sandbox.ts'

export interface RunSettings {
  sandbox: CodeSandbox
  limits: CodeLimits
  signal?: AbortSignal | undefined
}

/** The report of one of our programs, or why there is none. */
export type Report = { data: unknown } | { failure: string; exceededLimit: boolean }

/** The wall time ran out before the program had its CPU time, which says nothing about the answer. */
class TooBusy extends Error {}

/** Runs a program; throws only if nothing can be said about the answer. */
export async function runPython(
  request: { code: string; stdin: string; trusted?: boolean },
  { sandbox, limits, signal }: RunSettings,
): Promise<CodeResult> {
  const result = await sandbox.run(
    { language: 'python', ...request, limits },
    signal === undefined ? {} : { signal },
  )
  if (result.starved === true) {
    throw new TooBusy('the machine was too busy to give the program its CPU time; run fewer programs at once')
  }
  return result
}

/** Runs a program that contains an answer and reads its report, which is only a claim by the answer. */
export function runAnswer(
  code: string,
  payload: Record<string, unknown>,
  settings: RunSettings,
): Promise<Report> {
  return runReporting(code, payload, settings, false)
}

/** The output of our own programs can be long, and must not depend on the answer's limit. */
const graderOutputBytes = 64_000_000

/** Runs our own program that grades an answer without containing it, in a process where no answer has run. */
export function runGrader(
  code: string,
  payload: Record<string, unknown>,
  settings: RunSettings,
): Promise<Report> {
  const limits = { ...settings.limits, outputBytes: graderOutputBytes }
  return runReporting(code, payload, { ...settings, limits }, true)
}

async function runReporting(
  code: string,
  payload: Record<string, unknown>,
  settings: RunSettings,
  trusted: boolean,
): Promise<Report> {
  const boundary = `report-${randomBytes(12).toString('hex')}:`
  const stdin = JSON.stringify({ ...payload, boundary })
  const result = await runPython({ code, stdin, trusted }, settings)
  const exceededLimit = result.timedOut || result.truncated || result.outOfMemory === true
  const at = result.stdout.lastIndexOf(boundary)
  if (result.timedOut || at < 0) return { failure: failureOf(result), exceededLimit }
  try {
    const line = result.stdout.slice(at + boundary.length).split('\n', 1)[0]!
    return { data: JSON.parse(line) as unknown }
  } catch {
    return { failure: unreadable, exceededLimit }
  }
}

export const unreadable = 'its report is not readable'

export function failureOf(result: CodeResult): string {
  if (result.timedOut) return 'took too long'
  if (result.truncated) return 'wrote too much'
  if (result.outOfMemory === true) return 'needed too much memory'
  const lastLine = result.stderr.trim().split('\n').at(-1) ?? ''
  if (lastLine !== '') return lastLine.slice(0, 200)
  return result.exit === 0
    ? 'exited before it returned a result'
    : `ended with ${result.exit ?? result.signal ?? 'a signal'}`
}
