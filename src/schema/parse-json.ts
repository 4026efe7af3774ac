/** A string after `{` or `,` that contains a backslash: possibly a key, possibly a list element. */
const MAY_HAVE_ESCAPED_KEY = /[{,]\s*"[^"\\]*\\/
const STRING_AND_COLON = /("(?:[^"\\]|\\.)*")(\s*:)?/g

/**
 * JSON.parse with a workaround: in Node 24 and 26, V8 can confuse a key that contains an escape, such as `"
 * "`, with a key of an earlier object of the same shape, such as `"\\"` (nodejs/node#63785). Such keys are replaced
 * by plain ones before parsing and restored afterwards.
 */
export function parseJson(text: string): unknown {
  // First, because it rejects invalid JSON: on an unterminated string the patterns would take quadratic time.
  const asRead: unknown = JSON.parse(text)
  if (!MAY_HAVE_ESCAPED_KEY.test(text)) return asRead
  let mark: string
  do mark = `key-${Math.random().toString(36).slice(2)}-`
  while (text.includes(mark))
  const keys: string[] = []
  const plain = text.replace(STRING_AND_COLON, (token: string, string: string, colon: string | undefined) => {
    if (colon === undefined || !string.includes('\\')) return token
    // A string on its own is parsed correctly.
    keys.push(JSON.parse(string))
    return `"${mark}${keys.length - 1}"${colon}`
  })
  const value: unknown = JSON.parse(plain)
  if (keys.length === 0) return value
  return renameKeys(value, (key) =>
    key.startsWith(mark) ? (keys[Number(key.slice(mark.length))] ?? key) : key,
  )
}

function renameKeys(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((element) => renameKeys(element, rename))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [rename(key), renameKeys(child, rename)]),
  )
}
