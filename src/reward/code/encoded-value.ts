/** Maximum nesting, as in python/encoding.ts. */
const maxDepth = 60

const wholeNumber = (content: unknown): boolean =>
  typeof content === 'string' && /^-?[0-9a-f]+$/.test(content) && content !== '-'
const floatNumber = (content: unknown): boolean => typeof content === 'string'
const every = (content: unknown, holds: (item: unknown) => boolean): boolean =>
  Array.isArray(content) && content.every(holds)

/**
 * Whether a value reported by a program has the encoding of python/encoding.ts. A program can report anything, so
 * invalid data must be caught here, not by the code that uses it.
 */
export function isEncodedValue(data: unknown, depth = 0): boolean {
  if (!Array.isArray(data) || depth > maxDepth) return false
  const [kind, content, second] = data as [unknown, unknown, unknown]
  const nested = (item: unknown): boolean => isEncodedValue(item, depth + 1)
  switch (kind) {
    case 'none':
      return true
    case 'bool':
      return typeof content === 'boolean'
    case 'int':
      return wholeNumber(content)
    case 'float':
      return floatNumber(content)
    case 'complex':
      return floatNumber(content) && floatNumber(second)
    case 'fraction':
      return wholeNumber(content) && wholeNumber(second) && !/^-?0*$/.test(second as string)
    case 'str':
      return typeof content === 'string' || every(content, isCodeUnit)
    case 'bytes':
      return typeof content === 'string' && /^(?:[0-9a-f]{2})*$/.test(content)
    case 'decimal':
      return typeof content === 'string'
    case 'range':
      return every(content, wholeNumber) && (content as unknown[]).length === 3
    case 'dict':
      return every(content, (entry) => Array.isArray(entry) && entry.length === 2 && entry.every(nested))
    case 'list':
    case 'tuple':
    case 'set':
    case 'frozenset':
    case 'deque':
      return every(content, nested)
    default:
      return false
  }
}

const isCodeUnit = (item: unknown): boolean =>
  Number.isInteger(item) && (item as number) >= 0 && (item as number) < 0x110000
