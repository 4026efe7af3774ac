import { z } from 'zod'
import { CoaError, ToolError } from '../../base/errors/index.ts'
import { backOff, pause } from '../../base/retry/index.ts'
import type { Payload } from '../../language/grammar/index.ts'
import type { OutputStore, Tool, ToolContext, ToolOutput, ToolResult } from './contract.ts'
import { repeatsQuestion } from './leak-guard.ts'
import { cutMiddle } from './output-limit.ts'

export interface CallOptions {
  /** Time limit for all attempts together; for a program in the sandbox, it starts once the program runs. */
  timeoutMs?: number
  /** Retries after transient failures. */
  retries?: number
  /** Maximum number of output characters shown to the model. */
  outputLimit?: number
  cache?: OutputStore
  /** The current question: output that repeats it is flagged. */
  question?: string
  signal?: AbortSignal
}

const defaults = { timeoutMs: 30_000, retries: 2, outputLimit: 8000 }
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 30_000

/**
 * Calls a tool with the payload from a chain, with timeout, retries, cache and output limit. Never throws, except when the
 * caller's own signal is aborted.
 *
 * @example
 * import { callTool, openToolbox, ProjectConfig } from 'chain-of-agents'
 *
 * const toolbox = openToolbox(ProjectConfig.parse({}), {})
 * const tool = await toolbox.open('code')
 * const payload = { syntax: 'code', language: 'python', code: 'print(6 * 7)' } as const
 * console.log((await callTool(tool, payload, { timeoutMs: 30_000 })).text)
 * await toolbox.close()
 */
export async function callTool(tool: Tool, payload: Payload, options: CallOptions = {}): Promise<ToolResult> {
  options.signal?.throwIfAborted()
  const started = performance.now()
  const { timeoutMs = defaults.timeoutMs, question, cache } = options
  const outcome = { attempts: 0, cached: false }
  const finish = (ok: boolean, output: ToolOutput & { fix?: string; environment?: boolean }): ToolResult => {
    const cut = cutMiddle(output.text, options.outputLimit ?? defaults.outputLimit)
    const repeats = ok && question !== undefined && repeatsQuestion(output.text, question)
    return {
      ok,
      text: cut.text,
      tool: tool.name,
      ...outcome,
      ms: Math.round(performance.now() - started),
      truncated: cut.truncated,
      flags: repeats ? ['repeats-question'] : [],
      provenance: output.provenance ?? {},
      environment: output.environment ?? false,
      ...(output.fix === undefined ? {} : { fix: output.fix }),
    }
  }
  const limit = tool.ownTimeLimit === true ? new AbortController().signal : AbortSignal.timeout(timeoutMs)
  const context: ToolContext = {
    signal: options.signal === undefined ? limit : AbortSignal.any([limit, options.signal]),
    timeoutMs,
    ...(question === undefined ? {} : { question }),
    ...(cache === undefined ? {} : { cache }),
  }
  try {
    const parsed = tool.input.safeParse(tool.fromPayload(payload))
    if (!parsed.success)
      return finish(false, { text: `${tool.name} rejected the input: ${firstIssue(parsed.error)}` })
    const store = tool.cacheable ? cache : undefined
    const key = [parsed.data, tool.cacheScope?.(context) ?? null]
    const hit = store?.get(tool.name, key)
    if (hit !== undefined) {
      outcome.cached = true
      return finish(true, hit)
    }
    const output = await attempt(tool, parsed.data, context, options.retries ?? defaults.retries, outcome)
    if (output.incomplete !== true) store?.set(tool.name, key, output)
    return finish(true, output)
  } catch (error) {
    options.signal?.throwIfAborted()
    if (limit.aborted)
      return finish(false, {
        text: `${tool.name} took longer than ${timeoutMs / 1000} s and was stopped`,
        environment: true,
      })
    const fix = CoaError.isInstance(error) ? error.fix : undefined
    const text = `${tool.name} failed: ${error instanceof Error ? error.message : String(error)}`
    return finish(false, { text, environment: !isRefusal(error), ...(fix === undefined ? {} : { fix }) })
  }
}

/** Retries until the call succeeds, the failure is permanent, or attempts or time run out. */
async function attempt(
  tool: Tool,
  input: unknown,
  context: ToolContext,
  retries: number,
  outcome: { attempts: number },
): Promise<ToolOutput> {
  const { signal } = context
  for (;;) {
    outcome.attempts++
    try {
      return await untilAborted(tool.execute(input, context), signal)
    } catch (error) {
      signal.throwIfAborted()
      if (!isTransient(error) || outcome.attempts > retries) throw error
      await pause(backOff(outcome.attempts - 1, FIRST_PAUSE_MS, LONGEST_PAUSE_MS), signal)
    }
  }
}

/** A tool that rejects the request, as opposed to one that failed to do its work. */
function isRefusal(error: unknown): boolean {
  return error instanceof ToolError && !error.transient
}

function isTransient(error: unknown): boolean {
  return CoaError.isInstance(error) && 'transient' in error && error.transient === true
}

/** A tool that ignores its signal is abandoned, not waited for. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0]
  return issue === undefined
    ? z.prettifyError(error)
    : `${issue.path.join('.') || 'payload'}: ${issue.message}`
}
