import { CoaError } from '../base/errors/index.ts'

type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'rate_limit_error'
  | 'server_error'

export interface ErrorBody {
  error: { message: string; type: ErrorType; param: string | null; code: string | null }
}

interface Details {
  code?: string
  param?: string
  type?: ErrorType
  headers?: Record<string, string>
  cause?: unknown
}

const types: Readonly<Record<number, ErrorType>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
}

/** An error as clients of OpenAI's API know it. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string | undefined
  readonly param: string | undefined
  readonly type: ErrorType
  readonly headers: Record<string, string>

  constructor(status: number, message: string, { code, param, type, headers = {}, cause }: Details = {}) {
    super(message, { cause })
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.param = param
    this.type = type ?? types[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error')
    this.headers = headers
  }

  body(): ErrorBody {
    const { message, type, param = null, code = null } = this
    return { error: { message, type, param, code } }
  }
}

export function unsupported(param: string, why: string): ApiError {
  return new ApiError(400, `${param} is not supported: ${why}`, { param, code: 'unsupported_parameter' })
}

/** Clients repeat failed requests by themselves; where that cannot help, it would only cost another chain. */
const FINAL = { 'x-should-retry': 'false' }

/** Boundaries at which the request is at fault. */
const ofRequest: ReadonlySet<string> = new Set(['usage', 'grammar', 'tokens', 'config'])

export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const message = error instanceof Error ? error.message : String(error)
  if (!CoaError.isInstance(error))
    return new ApiError(500, message, { code: 'internal', headers: FINAL, cause: error })
  if (ofRequest.has(error.boundary)) return new ApiError(400, message, { cause: error })
  return new ApiError(502, message, { code: `${error.boundary}_failed`, headers: FINAL, cause: error })
}

/** A chain that failed for a reason outside of the model. */
export function chainFailed({ boundary, message }: { boundary: string; message: string }): ApiError {
  return new ApiError(502, `the chain failed: ${message}`, { code: `${boundary}_failed`, headers: FINAL })
}
