/** A request that cannot be answered, with the status and what to do. */
export class Problem extends Error {
  readonly status: number
  readonly code: string
  readonly fix: string | undefined

  constructor(status: number, message: string, { code, fix }: { code?: string; fix?: string } = {}) {
    super(message)
    this.status = status
    this.code = code ?? codes[status] ?? 'failed'
    this.fix = fix
  }

  body(): { error: { message: string; fix?: string; code: string } } {
    const { message, fix, code } = this
    return { error: { message, ...(fix === undefined ? {} : { fix }), code } }
  }
}

const codes: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'no_token',
  403: 'forbidden',
  404: 'not_found',
  405: 'wrong_method',
  409: 'in_use',
  413: 'too_large',
  415: 'not_json',
  500: 'internal_error',
}
