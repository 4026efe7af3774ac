import { registerSecret } from '../../../base/errors/index.ts'
import { isObject } from '../../../logs/index.ts'

const MARK = '[redacted]'
const keyHeaders = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key']
const keyFields = /(?:^|[_-])(?:authorization|token|api_?key|secret|password)$/i

/** Makes sure that the keys of a request, which are passed on, are stored nowhere, even if a text repeats them. */
export function registerKeys(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  path: string,
): void {
  const query = new URLSearchParams(path.slice(path.indexOf('?') + 1))
  const named = [...query].flatMap(([name, value]) => (/key|token|auth|secret/i.test(name) ? [value] : []))
  for (const value of [...keyHeaders.flatMap((name) => headers[name] ?? []), ...named]) registerKey(value)
}

/** Local servers take any word as a key, and words must stay in the record. */
function registerKey(value: string): void {
  const key = value.replace(/^\w+ /, '')
  if (key.length >= 16 && /\d/.test(key)) registerSecret(key)
}

/** A body without the credentials of its tools: for hosted tools, apps send headers and tokens. Undefined if it has none. */
export function withoutCredentials(body: unknown): unknown {
  if (!isObject(body)) return undefined
  const lists = ['tools', 'mcp_servers'].filter((key) => Array.isArray(body[key]))
  const changed = lists.map((key) => [key, (body[key] as unknown[]).map(withoutKeys)] as const)
  const isSame = changed.every(([key, tools]) => JSON.stringify(tools) === JSON.stringify(body[key]))
  return isSame ? undefined : { ...body, ...Object.fromEntries(changed) }
}

/** Credentials are next to the name of a tool; deeper objects, such as its parameters, are descriptions. */
function withoutKeys(tool: unknown): unknown {
  if (!isObject(tool)) return tool
  return Object.fromEntries(
    Object.entries(tool).map(([key, value]) => {
      if (key === 'headers' && isObject(value))
        return [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, hidden(one)]))]
      return [key, keyFields.test(key) ? hidden(value) : value]
    }),
  )
}

function hidden(value: unknown): unknown {
  if (typeof value !== 'string' || value === '') return value
  registerKey(value)
  return MARK
}
