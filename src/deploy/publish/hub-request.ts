import { type CoaError, ToolError, UsageError } from '../../base/errors/index.ts'
import { backOff, pause, retryAfterMs } from '../../base/retry/index.ts'

export interface HubAccount {
  /** The Hub's URL, or that of a compatible server. */
  endpoint: string
  /** Sent only to the endpoint itself, never to a storage server that it names. */
  token: string
  signal?: AbortSignal | undefined
  attempts?: number | undefined
  backOffMs?: number | undefined
}

export interface HubRequest {
  url: string
  method?: 'GET' | 'POST' | 'PUT'
  /** Called for every attempt, since a stream can be read only once. */
  body?: () => string | Blob
  headers?: Record<string, string>
  /** What the request is for, for errors. */
  purpose: string
  /** Statuses that are not errors. */
  accepts?: readonly number[]
}

/** One request to the Hub or its storage; failures that may pass are repeated. */
export async function hubRequest(request: HubRequest, account: HubAccount): Promise<Response> {
  const { attempts = 5, backOffMs = 1_000, signal } = account
  for (let failures = 1; ; failures++) {
    const found = await attempt(request, account)
    if (found instanceof Response) return found
    if (failures >= attempts || !(found.error instanceof ToolError && found.error.transient))
      throw found.error
    await pause(found.waitMs ?? backOff(failures - 1, backOffMs, 30_000), signal)
  }
}

interface Failed {
  error: CoaError
  waitMs?: number | undefined
}

async function attempt(
  { url, method = 'GET', body, headers = {}, purpose, accepts = [] }: HubRequest,
  { endpoint, token, signal }: HubAccount,
): Promise<Response | Failed> {
  const isHub = new URL(url).origin === new URL(endpoint).origin
  try {
    const response = await fetch(url, {
      method,
      headers: {
        'user-agent': 'chain-of-agents',
        ...(isHub ? { authorization: `Bearer ${token}` } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: body(), duplex: 'half' }),
      ...(signal === undefined ? {} : { signal }),
    } as RequestInit)
    if (response.ok || accepts.includes(response.status)) return response
    return {
      error: await refusal(response, purpose, endpoint),
      waitMs: retryAfterMs((name) => response.headers.get(name)),
    }
  } catch (cause) {
    signal?.throwIfAborted()
    const { message, cause: deeper } = cause as Error
    const reason = deeper instanceof Error && deeper.message !== '' ? deeper.message : message
    const error = new ToolError(`cannot reach ${new URL(url).host} to ${purpose}: ${reason}`, {
      fix: 'Check the connection and run the same command again: files that have arrived are not uploaded again.',
      transient: true,
      cause,
    })
    return { error }
  }
}

async function refusal(response: Response, purpose: string, endpoint: string): Promise<CoaError> {
  const { status } = response
  const { host } = new URL(response.url)
  const base = endpoint.replace(/\/+$/, '')
  const said = reasonOf(response, await response.text())
  const details = { status, purpose }
  if (status === 401) {
    return new UsageError(`${host} rejected the token in HF_TOKEN${said}`, {
      fix: `Create a token with write access at ${base}/settings/tokens and set it: export HF_TOKEN=hf_…`,
      details,
    })
  }
  if (status === 403) {
    return new UsageError(`the token in HF_TOKEN may not ${purpose}${said}`, {
      fix: `Give it write access to this repository at ${base}/settings/tokens, or choose another name with --repo.`,
      details,
    })
  }
  if (status === 408 || status === 429 || status >= 500) {
    return new ToolError(`${host} answered with status ${status} to a request to ${purpose}${said}`, {
      fix: 'Run the same command again later: files that have arrived are not uploaded again.',
      transient: true,
      details,
    })
  }
  return new UsageError(`${host} refused to ${purpose} (status ${status})${said}`, {
    fix: 'Check the name given with --repo, and the cards in the prepared folder.',
    details,
  })
}

/** Servers explain themselves in a header or in JSON. */
function reasonOf(response: Response, text: string): string {
  const header = response.headers.get('x-error-message')
  if (header !== null) return `: ${header}`
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    return typeof error === 'string' ? `: ${error}` : ''
  } catch {
    return ''
  }
}
