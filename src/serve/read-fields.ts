import type { z } from 'zod'
import { ApiError, unsupported } from './api-error.ts'

/** Reads the fields of a request that are honored. Others are ignored: proxies and libraries add their own. */
export function readFields<S extends z.ZodType>(schema: S, body: unknown): z.infer<S> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new ApiError(400, 'the request body is not a JSON object')
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const param = issue?.path.join('.') ?? ''
  throw new ApiError(400, `${param === '' ? 'the request' : param}: ${issue?.message}`, {
    param,
    code: 'invalid_value',
  })
}

/** Refuses what this server cannot do, rather than doing something else. Null and empty values ask for nothing. */
export function refuse(body: unknown, reasons: Record<string, string>): void {
  for (const [field, why] of Object.entries(reasons)) {
    const value = (body as Record<string, unknown>)[field]
    if (!asksForNothing(value)) throw unsupported(field, why)
  }
}

function asksForNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === 0 || value === false || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}
