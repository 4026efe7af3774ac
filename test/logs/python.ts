/** A value as Python prints it. */
export function pythonRepr(value: unknown): string {
  if (typeof value === 'string') return stringRepr(value)
  if (value === null) return 'None'
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`
  if (typeof value !== 'object') return String(value)
  const entries = Object.entries(value).map(([key, inner]) => `${stringRepr(key)}: ${pythonRepr(inner)}`)
  return `{${entries.join(', ')}}`
}

function stringRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replaceAll(quote, `\\${quote}`)
  return `${quote}${escaped}${quote}`
}
