import { closeNumbers } from './compare-output.ts'

/**
 * Compares a value from a Python program (in the encoding of python/encoding.ts) with expected JSON. Tuples count as
 * lists and integral floats as integers, because JSON does not distinguish them; dictionary keys are compared as
 * text.
 */
export function sameAsJson(expected: unknown, encoded: unknown, floatTolerance?: number): boolean {
  if (!Array.isArray(encoded)) return false
  const [kind, content] = encoded as [unknown, unknown]
  if (kind === 'none') return expected === null
  if (kind === 'bool') return expected === content
  if (kind === 'str') return expected === content
  if (kind === 'int') return typeof expected === 'number' && sameInteger(expected, String(content))
  if (kind === 'float')
    return typeof expected === 'number' && sameFloat(expected, String(content), floatTolerance)
  if ((kind === 'list' || kind === 'tuple' || kind === 'deque') && Array.isArray(content)) {
    if (!Array.isArray(expected) || expected.length !== content.length) return false
    return expected.every((item, index) => sameAsJson(item, content[index], floatTolerance))
  }
  if (kind === 'dict' && Array.isArray(content)) return sameEntries(expected, content, floatTolerance)
  return false
}

function sameInteger(expected: number, digits: string): boolean {
  const isNegative = digits.startsWith('-')
  if (!Number.isInteger(expected) || !/^-?[0-9a-f]+$/.test(digits)) return false
  const value = BigInt(`0x${isNegative ? digits.slice(1) : digits}`)
  return BigInt(expected) === (isNegative ? -value : value)
}

function sameFloat(expected: number, hex: string, tolerance: number | undefined): boolean {
  const value = parseHexFloat(hex)
  return tolerance === undefined ? value === expected : closeNumbers(expected, value, tolerance)
}

/** Python's float.hex(): sign, 0x1.mantissa, p, binary exponent. */
function parseHexFloat(text: string): number {
  const match = /^(-?)0x([01])(?:\.([0-9a-f]+))?p([+-]\d+)$/.exec(text)
  if (match === null) return Number.NaN
  const [, sign, whole = '0', fraction = '', exponent = '0'] = match
  const mantissa = Number.parseInt(whole + fraction, 16) * 2 ** (-4 * fraction.length)
  return (sign === '-' ? -1 : 1) * mantissa * 2 ** Number(exponent)
}

function sameEntries(expected: unknown, entries: readonly unknown[], tolerance: number | undefined): boolean {
  if (typeof expected !== 'object' || expected === null || Array.isArray(expected)) return false
  const wanted = new Map(Object.entries(expected))
  if (wanted.size !== entries.length) return false
  return entries.every((entry) => {
    if (!Array.isArray(entry) || !Array.isArray(entry[0])) return false
    const [kind, content] = entry[0] as [unknown, unknown]
    const key = kind === 'int' ? integerText(String(content)) : kind === 'str' ? String(content) : undefined
    return key !== undefined && wanted.has(key) && sameAsJson(wanted.get(key), entry[1], tolerance)
  })
}

const integerText = (hex: string): string =>
  hex.startsWith('-') ? `-${BigInt(`0x${hex.slice(1)}`)}` : String(BigInt(`0x${hex}`))
