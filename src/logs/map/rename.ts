import { asText, isObject } from '../json.ts'

/** Records may be under some keys, as in `{ "data": { "items": […] } }`. */
const DEEPEST = 3

/** A value in whose records the fields at some paths, as reports print them, have the keys that their format reads. */
export function renamed(value: unknown, rules: Readonly<Record<string, string>>): unknown {
  return Object.entries(rules).reduce((record, [path, key]) => inRecords(record, path, key), value)
}

function inRecords(value: unknown, path: string, to: string, depth = 0): unknown {
  if (Array.isArray(value) && !path.startsWith('[]'))
    return value.map((record) => inRecords(record, path, to, depth))
  if (!isObject(value) || keyIn(value, path) !== undefined) return renamedAt(value, path, to)
  if (depth === DEEPEST) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, inRecords(child, path, to, depth + 1)]),
  )
}

/** The key that a path begins with. Keys may contain dots themselves. */
const keyIn = (value: object, path: string): string | undefined =>
  Object.keys(value).find((key) => path === key || path.startsWith(`${key}.`) || path.startsWith(`${key}[]`))

function renamedAt(value: unknown, path: string, to: string): unknown {
  if (Array.isArray(value))
    return path.startsWith('[]')
      ? value.map((one) => renamedAt(one, path.slice(2).replace(/^\./, ''), to))
      : value
  if (!isObject(value)) return value
  const key = keyIn(value, path)
  if (key === undefined) return value
  const rest = path.slice(key.length).replace(/^\./, '')
  if (rest !== '') return { ...value, [key]: renamedAt(value[key], rest, to) }
  const { [key]: moved, ...others } = value
  return key === to ? value : { ...others, [to]: together(others[to], moved) }
}

/** What is moved comes after what is there. */
function together(there: unknown, moved: unknown): unknown {
  if (there === undefined || there === null || there === '') return moved
  if (!Array.isArray(there)) return `${asText(there)}\n${asText(moved)}`
  return [...there, ...(Array.isArray(moved) ? moved : [{ type: 'text', text: asText(moved) }])]
}
