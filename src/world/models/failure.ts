import { ModelError, redact } from '../../base/errors/index.ts'
import { retryAfterMs } from '../../base/retry/index.ts'

const EXCERPT = 200

/**
 * The AI SDK's request error, recognized by name: loading the SDK takes a quarter of a second and is not needed for
 * this.
 */
interface CallError extends Error {
  statusCode?: number
  responseHeaders?: Record<string, string>
  responseBody?: string
}

function isCallError(error: unknown): error is CallError {
  return error instanceof Error && error.name === 'AI_APICallError'
}

/** Converts a failed model request into a ModelError with a message and a fix. */
export function modelError(
  error: unknown,
  { model, baseUrl, hasKey }: { model: string; baseUrl?: string; hasKey: boolean },
): ModelError {
  const place = baseUrl ?? model
  if (!isCallError(error)) {
    return new ModelError(`${model} failed: ${messageOf(error)}`, {
      cause: error,
      fix: 'Check that the endpoint is compatible with the OpenAI chat or embeddings API.',
    })
  }
  const status = error.statusCode
  if (status === undefined) {
    return new ModelError(`${place} cannot be reached: ${messageOf(error)}`, {
      cause: error,
      transient: true,
      fix: 'Check the URL, and that the server is running.',
    })
  }
  // Redact first: a truncated key would no longer be recognized.
  const detail = redact(messageOf(error)).slice(0, EXCERPT)
  if (status < 300) {
    return new ModelError(`the response from ${place} was cut off: ${detail}`, {
      cause: error,
      transient: true,
      fix: 'The connection was lost or the server failed: check its log, or try again later.',
    })
  }
  const transient = status === 408 || status === 409 || status === 425 || status === 429 || status >= 500
  return new ModelError(`${place} responded with status ${status}: ${detail}`, {
    cause: error,
    transient,
    fix: fixFor(status, detail, model, hasKey),
    details: { status },
  })
}

function fixFor(status: number, detail: string, model: string, hasKey: boolean): string {
  if (status === 401 || status === 403) {
    return hasKey
      ? `The API key was rejected: check that it is correct and has access to ${model}.`
      : 'An API key is required: set the environment variable that holds it.'
  }
  if (status === 404 || /model/i.test(detail)) {
    return `Check the URL (it usually ends in /v1), and that the server has a model named "${model}".`
  }
  if (status === 429) return 'The rate limit was reached: wait, or lower the concurrency.'
  if (status >= 500) return 'The server failed internally: check its log, or try again later.'
  return 'Correct what the server reports.'
}

/** The delay requested by the server. */
export function retryAfterOf(error: unknown): number | undefined {
  return isCallError(error) ? retryAfterMs((name) => error.responseHeaders?.[name]) : undefined
}

/** Whether the server rejected the request because it does not support structured output. */
export function refusesSchema(error: unknown): boolean {
  if (!isCallError(error)) return false
  const { statusCode: status = 0 } = error
  return (
    (status === 400 || status === 422 || status === 501) &&
    /response_format|json_schema|structured|grammar/i.test(`${error.message} ${error.responseBody ?? ''}`)
  )
}

/** fetch nests the reason ("connect ECONNREFUSED …") one or two causes deep. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  const inner = cause instanceof Error && !isCallError(cause) ? messageOf(cause) : ''
  const code = (error as NodeJS.ErrnoException).code
  if (inner !== '') return inner
  return error.message !== '' ? error.message : (code ?? error.name)
}
