import { ConfigError, ToolError, UsageError } from '../../../base/errors/index.ts'
import { parseJson } from '../../../schema/index.ts'
import { keyFrom } from '../../../settings/index.ts'
import type { SearchProvider } from './provider.ts'
import { type LiveService, services } from './services.ts'

export const liveProviderNames = Object.keys(services)

type Environment = Record<string, string | undefined>

/** The environment variable a service needs, and whether it is set. */
export function liveProviderState(
  name: string,
  environment: Environment,
): { variable: string; isSet: boolean } {
  const { variable } = serviceOf(name)
  return { variable, isSet: (environment[variable] ?? '') !== '' }
}

/**
 * A live search service by name; its key or URL comes from the given environment. `endpoint` is for a proxy with the
 * same API.
 */
export function liveProvider(
  name: string,
  environment: Environment,
  options: { endpoint?: string } = {},
): SearchProvider {
  const service = serviceOf(name)
  // For a service without a fixed endpoint the variable holds a URL, which is not secret.
  const isUrl = service.endpoint === undefined
  const key = isUrl ? environment[service.variable] : keyFrom(environment, service.variable)
  if (key === undefined || key === '') {
    throw new ConfigError(`${name} needs the environment variable ${service.variable}`, {
      fix: `Set ${service.variable} and try again.`,
    })
  }
  const endpoint = options.endpoint ?? service.endpoint ?? key
  if (!URL.canParse(endpoint)) {
    throw new ConfigError(`${service.variable} is not a valid URL`, {
      fix: 'Use a full URL, such as http://localhost:8888.',
    })
  }
  return {
    name,
    cacheKey: endpoint,
    search: async (query, limit, signal) => {
      const wanted = Math.min(limit, service.maxHits)
      const [url, init] = service.request(
        { endpoint, key },
        shorten(query, service.maxQueryCharacters),
        wanted,
      )
      // A redirect would send our key to its target.
      const response = await fetch(url, { ...init, signal, redirect: 'error' }).catch((cause: unknown) => {
        signal.throwIfAborted()
        throw new ToolError(`${name} cannot be reached`, { cause, transient: true })
      })
      if (!response.ok) throw statusError(name, service, response.status)
      const parsed = service.hits.safeParse(await readBody(response, signal))
      if (!parsed.success)
        throw new ToolError(`${name} returned an unexpected response`, { cause: parsed.error })
      return parsed.data.slice(0, limit)
    },
  }
}

function serviceOf(name: string): LiveService {
  const service = Object.hasOwn(services, name) ? services[name] : undefined
  if (service !== undefined) return service
  throw new UsageError(`unknown search service "${name}"`, {
    fix: `Use one of ${liveProviderNames.join(', ')}.`,
  })
}

function statusError(name: string, service: LiveService, status: number): ToolError {
  const transient = status === 429 || status >= 500
  const refused = status === 401 || status === 402 || status === 403 || status === 432
  return new ToolError(`${name} responded with status ${status}`, {
    transient,
    ...(refused ? { fix: service.rejectionFix } : {}),
    details: { status },
  })
}

async function readBody(response: Response, signal: AbortSignal): Promise<unknown> {
  try {
    return parseJson(await response.text())
  } catch {
    signal.throwIfAborted()
    return undefined
  }
}

/** Cuts at the end of a word, if possible. */
function shorten(query: string, limit: number): string {
  if (query.length <= limit) return query
  const end = query.lastIndexOf(' ', limit)
  return query.slice(0, end > 0 ? end : limit).toWellFormed()
}
