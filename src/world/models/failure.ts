import { ModelError, redacted } from '../../base/errors/index.ts'
import { retryAfterMs } from '../../base/retry/index.ts'

const EXCERPT = 200

/** The AI SDK's error for a request, by its name: the SDK takes a quarter of a second to load, and errors need it not. */
interface CallError extends Error {
  statusCode?: number
  responseHeaders?: Record<string, string>
  responseBody?: string
}

function isCallError(error: unknown): error is CallError {
  return error instanceof Error && error.name === 'AI_APICallError'
}

/** Says in our words what went wrong between us and a model, and what to do about it. */
export function modelError(
  error: unknown,
  { model, baseUrl, hasKey }: { model: string; baseUrl?: string; hasKey: boolean },
): ModelError {
  const place = baseUrl ?? model
  if (!isCallError(error)) {
    return new ModelError(`${model} failed: ${messageOf(error)}`, {
      cause: error,
      fix: 'Check that the endpoint speaks the OpenAI chat or embeddings protocol.',
    })
  }
  const status = error.statusCode
  if (status === undefined) {
    return new ModelError(`${place} cannot be reached: ${messageOf(error)}`, {
      cause: error,
      passing: true,
      fix: 'Check the address and that the server runs.',
    })
  }
  // First, because half a key would not be known any more.
  const said = redacted(messageOf(error)).slice(0, EXCERPT)
  if (status < 300) {
    return new ModelError(`the answer of ${place} broke off: ${said}`, {
      cause: error,
      passing: true,
      fix: 'The connection or the server gave out on the way: look at its log, or try later.',
    })
  }
  const passing = status === 408 || status === 409 || status === 425 || status === 429 || status >= 500
  return new ModelError(`${place} answered with status ${status}: ${said}`, {
    cause: error,
    passing,
    fix: fixFor(status, said, model, hasKey),
    details: { status },
  })
}

function fixFor(status: number, said: string, model: string, hasKey: boolean): string {
  if (status === 401 || status === 403) {
    return hasKey
      ? `The key was refused: check that it is right and may use ${model}.`
      : 'It wants a key: set the environment variable that holds it.'
  }
  if (status === 404 || /model/i.test(said)) {
    return `Check the address (it usually ends in /v1) and that the server knows a model "${model}".`
  }
  if (status === 429) return 'The limit of the service is reached: wait, or lower the concurrency.'
  if (status >= 500) return 'The server has a fault of its own: look at its log, or try later.'
  return 'Change what the server complains of.'
}

/** How long the server asked us to wait. */
export function askedPauseMs(error: unknown): number | undefined {
  return isCallError(error) ? retryAfterMs((name) => error.responseHeaders?.[name]) : undefined
}

/** True for a server that does not know how to hold an answer to a schema. */
export function refusesSchema(error: unknown): boolean {
  if (!isCallError(error)) return false
  const { statusCode: status = 0 } = error
  return (
    (status === 400 || status === 422 || status === 501) &&
    /response_format|json_schema|structured|grammar/i.test(`${error.message} ${error.responseBody ?? ''}`)
  )
}

/** fetch hides the reason ("connect ECONNREFUSED …") one or two causes down. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  const inner = cause instanceof Error && !isCallError(cause) ? messageOf(cause) : ''
  const code = (error as NodeJS.ErrnoException).code
  if (inner !== '') return inner
  return error.message !== '' ? error.message : (code ?? error.name)
}
