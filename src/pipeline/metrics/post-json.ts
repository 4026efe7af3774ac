import { UsageError } from '../../base/errors/index.ts'

const TIMEOUT_MS = 30_000

export interface Send {
  method?: 'GET' | 'POST' | 'PUT'
  headers?: Record<string, string>
}

/** Sends JSON and returns the text of the reply. A server that is missing or refuses is an error that names it. */
export async function postJson(
  address: URL,
  body: unknown,
  { method = 'POST', headers = {} }: Send = {},
): Promise<string> {
  let response: Response
  let text: string
  try {
    response = await fetch(address, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    text = await response.text()
  } catch (cause) {
    const isSlow = (cause as Error).name === 'TimeoutError'
    throw new UsageError(
      isSlow
        ? `${address.origin} did not respond within ${TIMEOUT_MS / 1000} s.`
        : `no server responds at ${address.origin}.`,
      { fix: 'Start it, or use another URL.', cause },
    )
  }
  if (!response.ok) throw new Refused(address, response.status, text)
  return text
}

export class Refused extends UsageError {
  readonly status: number
  readonly text: string

  constructor(address: URL, status: number, text: string) {
    super(`${address.origin}${address.pathname} responded with status ${status}.`, {
      fix: `It said: ${text.slice(0, 300)}`,
    })
    this.status = status
    this.text = text
  }
}
