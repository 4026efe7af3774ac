import { isObject, type JsonObject, listOf } from '../json.ts'

/** Attributes as an object: OTLP and Jaeger have a list of keys and values, other files an object. */
export function attributesOf(value: unknown): JsonObject {
  if (isObject(value)) return value
  return Object.fromEntries(
    listOf(value).flatMap((pair) =>
      isObject(pair) && typeof pair['key'] === 'string' ? [[pair['key'], plain(pair['value'])]] : [],
    ),
  )
}

const scalars = ['string', 'bool', 'int', 'double', 'bytes']

/** An OTLP value without its type, such as `{ "stringValue": "x" }`, also in snake case; other values as they are. */
export function plain(value: unknown): unknown {
  if (!isObject(value)) return value
  const keys = Object.keys(value)
  if (keys.length === 0) return undefined
  if (keys.length > 1) return value
  const found = value[keys[0]!]
  const kind = keys[0]!.replace(/_?value$/i, '')
  if (kind === keys[0]) return value
  if (kind === 'int' && typeof found === 'string') return Number(found)
  if (scalars.includes(kind)) return found
  const values = isObject(found) ? listOf(found['values']) : []
  if (kind === 'array') return values.map(plain)
  return kind === 'kvlist' ? attributesOf(values) : value
}

/**
 * What the attributes have under a key: its own value, or the value that keys such as `key.0.role` spell out. Lists may
 * have holes where attributes were dropped; they are closed.
 */
export function folded(attributes: JsonObject, key: string): unknown {
  const whole = attributes[key]
  if (whole !== undefined && (typeof whole === 'object' || !hasKeysUnder(attributes, key)))
    return unfold(whole)
  const inner: JsonObject = {}
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith(`${key}.`)) inner[name.slice(key.length + 1)] = value
  return Object.keys(inner).length === 0 ? undefined : unfold(inner)
}

const hasKeysUnder = (attributes: JsonObject, key: string): boolean =>
  Object.keys(attributes).some((name) => name.startsWith(`${key}.`))

interface Branch {
  value?: unknown
  children: Map<string, Branch>
}

/** An object whose keys are paths, as nested objects and lists. */
function unfold(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unfold)
  if (!isObject(value)) return value
  const root: Branch = { children: new Map() }
  for (const [path, leaf] of Object.entries(value)) {
    let branch = root
    for (const key of path.split('.')) {
      const next = branch.children.get(key) ?? { children: new Map() }
      branch.children.set(key, next)
      branch = next
    }
    branch.value = unfold(leaf)
  }
  return joined(root)
}

function joined({ value, children }: Branch): unknown {
  if (children.size === 0) return value
  const entries = [...children].map(([key, child]) => [key, joined(child)] as const)
  if (entries.every(([key]) => /^\d+$/.test(key)))
    return entries.sort(([one], [other]) => Number(one) - Number(other)).map(([, child]) => child)
  return { ...(isObject(value) ? value : {}), ...Object.fromEntries(entries) }
}
