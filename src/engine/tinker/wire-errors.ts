import { EngineError } from '../checkpoint/index.ts'

/** True for statuses that a retry may resolve. */
export function isTransient(status: number): boolean {
  return (
    status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501 && status !== 507)
  )
}

export function statusOf(cause: unknown): number | undefined {
  return cause instanceof EngineError && typeof cause.details['status'] === 'number'
    ? cause.details['status']
    : undefined
}

/** The server's error message, if any; FastAPI returns a list of validation errors. */
function detailOf(answer: unknown): string {
  const detail = (answer as { detail?: unknown; error?: unknown } | undefined)?.detail
  if (typeof detail === 'string') return detail
  if (Array.isArray(detail))
    return detail
      .map((item: { loc?: unknown[]; msg?: string }) =>
        `${item.loc?.join('.') ?? ''} ${item.msg ?? ''}`.trim(),
      )
      .join('; ')
  const other = (answer as { error?: unknown } | undefined)?.error
  return typeof other === 'string' ? other : ''
}

const fixes: Record<number, string> = {
  400: 'Correct the request.',
  401: "Pass the server's API key.",
  402: 'Check your account with the server.',
  403: 'Pass a key with permission for this.',
  404: 'The server may have been restarted: reopen the engine from the last checkpoint.',
  409: 'Reopen the engine from the last checkpoint, without the state file.',
  410: 'Reopen the engine from the last checkpoint.',
  413: 'Send fewer or shorter examples per request.',
  422: 'The server does not support this request; see docs/76-trainer.md for tested servers.',
  507: 'Send fewer or shorter examples per request.',
}

export function serverError(base: string, path: string, status: number, answer: unknown): EngineError {
  const detail = detailOf(answer)
  const what =
    status === 401
      ? 'the API key is missing or invalid'
      : detail.replace(/\.$/, '') || `${path} returned status ${status}`
  return new EngineError(`The server at ${new URL(base).host} rejected the request: ${what}.`, {
    fix: fixes[status] ?? (status >= 500 ? "Check the server's log." : 'Correct the request.'),
    details: { status, path, detail },
  })
}

/** No response: the server is not running, disconnected, or too slow. */
export function unreachable(
  base: string,
  cause: unknown,
  timedOut: boolean,
): { failure: EngineError; arrived: boolean } {
  const code = codeOf(cause)
  const why = timedOut ? 'it did not respond in time' : (code ?? (cause as Error).message)
  return {
    // Without a connection the request cannot have arrived.
    arrived: !(code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EAI_AGAIN'),
    failure: new EngineError(`The server at ${new URL(base).host} cannot be reached: ${why}.`, {
      fix: 'Check whether it is running (`coa trainer status`) and its log; saved checkpoints are intact.',
      details: { reason: timedOut ? 'timeout' : (code ?? 'connection') },
      cause,
    }),
  }
}

function codeOf(cause: unknown): string | undefined {
  for (let at: unknown = cause; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException
    if (typeof code === 'string') return code
    if (at instanceof AggregateError && at.errors[0] instanceof Error) {
      const first = (at.errors[0] as NodeJS.ErrnoException).code
      if (typeof first === 'string') return first
    }
  }
  return undefined
}
