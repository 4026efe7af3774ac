import { randomBytes } from 'node:crypto'
import type { CodeLimits, CodeResult, CodeSandbox } from './code-sandbox.ts'

export interface RunSettings {
  sandbox: CodeSandbox
  limits: CodeLimits
  signal?: AbortSignal | undefined
}

/** What a program of ours reported, or why it reported nothing. */
export type Report = { data: unknown } | { failure: string; passedLimit: boolean }

/** Wall time ran out before the program had its processor time: that says nothing about the answer. */
class TooBusy extends Error {}

/** Runs a program; throws only where nothing can be said about the answer. */
export async function runPython(
  request: { code: string; stdin: string; trusted?: boolean },
  { sandbox, limits, signal }: RunSettings,
): Promise<CodeResult> {
  const result = await sandbox.run(
    { language: 'python', ...request, limits },
    signal === undefined ? {} : { signal },
  )
  if (result.starved === true) {
    throw new TooBusy('the machine was too busy to give the program its time; run fewer at once')
  }
  return result
}

/** Runs a program that takes an answer along, and reads the line it reports on: a claim of the answer's. */
export function runAnswer(
  code: string,
  payload: Record<string, unknown>,
  settings: RunSettings,
): Promise<Report> {
  return runReporting(code, payload, settings, false)
}

/** What our own programs print about many values can be long, and is not the answer's to bound. */
const graderOutputBytes = 64_000_000

/** Runs a program of ours that decides on an answer and never meets it, where no answer has run before. */
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
  const passedLimit = result.timedOut || result.truncated || result.outOfMemory === true
  const at = result.stdout.lastIndexOf(boundary)
  if (result.timedOut || at < 0) return { failure: failureOf(result), passedLimit }
  try {
    const line = result.stdout.slice(at + boundary.length).split('\n', 1)[0]!
    return { data: JSON.parse(line) as unknown }
  } catch {
    return { failure: unreadable, passedLimit }
  }
}

export const unreadable = 'its report could not be read'

export function failureOf(result: CodeResult): string {
  if (result.timedOut) return 'took too long'
  if (result.truncated) return 'wrote too much'
  if (result.outOfMemory === true) return 'needed too much memory'
  const lastLine = result.stderr.trim().split('\n').at(-1) ?? ''
  if (lastLine !== '') return lastLine.slice(0, 200)
  return result.exit === 0
    ? 'ended before it gave a result'
    : `ended with ${result.exit ?? result.signal ?? 'a signal'}`
}
