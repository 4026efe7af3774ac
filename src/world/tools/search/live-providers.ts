import { ConfigError, ToolError, UsageError } from '../../../base/errors/index.ts'
import { parseJson } from '../../../schema/index.ts'
import { keyFrom } from '../../../settings/index.ts'
import type { SearchProvider } from './provider.ts'
import { type LiveService, services } from './services.ts'

export const liveProviderNames = Object.keys(services)

type Environment = Record<string, string | undefined>

/** The variable a service needs, and whether it is set. */
export function liveProviderState(
  name: string,
  environment: Environment,
): { variable: string; isSet: boolean } {
  const { variable } = serviceOf(name)
  return { variable, isSet: (environment[variable] ?? '') !== '' }
}

/**
 * A live search service by name; its key or address comes from the environment, which the caller passes in.
 * `endpoint` is for a proxy of the same protocol.
 */
export function liveProvider(
  name: string,
  environment: Environment,
  options: { endpoint?: string } = {},
): SearchProvider {
  const service = serviceOf(name)
  // The variable of a service without an endpoint of its own holds an address, which is no secret.
  const isAddress = service.endpoint === undefined
  const key = isAddress ? environment[service.variable] : keyFrom(environment, service.variable)
  if (key === undefined || key === '') {
    throw new ConfigError(`${name} needs the variable ${service.variable}`, {
      fix: `Set ${service.variable} and try again.`,
    })
  }
  const endpoint = options.endpoint ?? service.endpoint ?? key
  if (!URL.canParse(endpoint)) {
    throw new ConfigError(`${service.variable} is not an address`, {
      fix: 'Write it in full, such as http://localhost:8888.',
    })
  }
  return {
    name,
    cacheKey: endpoint,
    search: async (query, limit, signal) => {
      const wanted = Math.min(limit, service.most)
      const [url, init] = service.request({ endpoint, key }, shorten(query, service.longestQuery), wanted)
      // A redirect would carry our key to wherever it points.
      const response = await fetch(url, { ...init, signal, redirect: 'error' }).catch((cause: unknown) => {
        signal.throwIfAborted()
        throw new ToolError(`${name} cannot be reached`, { cause, passing: true })
      })
      if (!response.ok) throw statusError(name, service, response.status)
      const parsed = service.hits.safeParse(await readBody(response, signal))
      if (!parsed.success)
        throw new ToolError(`${name} answered in a form we do not know`, { cause: parsed.error })
      return parsed.data.slice(0, limit)
    },
  }
}

function serviceOf(name: string): LiveService {
  const service = Object.hasOwn(services, name) ? services[name] : undefined
  if (service !== undefined) return service
  throw new UsageError(`there is no search service called "${name}"`, {
    fix: `Use one of ${liveProviderNames.join(', ')}.`,
  })
}

function statusError(name: string, service: LiveService, status: number): ToolError {
  const passing = status === 429 || status >= 500
  const refused = status === 401 || status === 402 || status === 403 || status === 432
  return new ToolError(`${name} answered with status ${status}`, {
    passing,
    ...(refused ? { fix: service.refused } : {}),
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

/** At a word's end, where there is one. */
function shorten(query: string, limit: number): string {
  if (query.length <= limit) return query
  const end = query.lastIndexOf(' ', limit)
  return query.slice(0, end > 0 ? end : limit).toWellFormed()
}
