import { EngineError } from '../checkpoint/index.ts'

/** True for answers that another attempt may turn into a good one. */
export function isPassing(status: number): boolean {
  return (
    status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501 && status !== 507)
  )
}

export function statusOf(cause: unknown): number | undefined {
  return cause instanceof EngineError && typeof cause.details['status'] === 'number'
    ? cause.details['status']
    : undefined
}

/** The server's own sentence, where it has one; FastAPI lists what is wrong with a body. */
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
  401: 'Give the server’s key.',
  402: 'Look at the account of the server.',
  403: 'Give a key that may do this.',
  404: 'The server may have been started anew: open the engine again from the last checkpoint.',
  409: 'Open the engine again from the last checkpoint, without the state file.',
  410: 'Open the engine again from the last checkpoint.',
  413: 'Send fewer or shorter examples at once.',
  422: 'The server does not know this form of the request; see docs/76-trainer.md for the servers that were tried.',
  507: 'Send fewer or shorter examples at once.',
}

export function refusal(base: string, path: string, status: number, answer: unknown): EngineError {
  const detail = detailOf(answer)
  const what =
    status === 401
      ? 'the key is missing or wrong'
      : detail.replace(/\.$/, '') || `it answered ${path} with status ${status}`
  return new EngineError(`The server at ${new URL(base).host} refuses: ${what}.`, {
    fix: fixes[status] ?? (status >= 500 ? 'Look into the server’s log.' : 'Correct the request.'),
    details: { status, path, detail },
  })
}

/** Nothing came back: it is not there, it went away, or it takes too long. */
export function unreachable(
  base: string,
  cause: unknown,
  timedOut: boolean,
): { failure: EngineError; arrived: boolean } {
  const code = codeOf(cause)
  const why = timedOut ? 'it did not answer in time' : (code ?? (cause as Error).message)
  return {
    // What never got a connection never got there.
    arrived: !(code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EAI_AGAIN'),
    failure: new EngineError(`The server at ${new URL(base).host} cannot be reached: ${why}.`, {
      fix: 'Look whether it runs (`coa trainer status`) and at its log; what was saved is unharmed.',
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
