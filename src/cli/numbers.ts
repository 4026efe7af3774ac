import { UsageError } from '../base/errors/index.ts'

/** Parses the value of an option as a whole number. */
export function wholeNumber(option: string, least = 1): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value
    const range = least > 0 ? ` of at least ${least}` : ''
    throw new UsageError(`${option} ${text} is not a whole number${range}`, {
      fix: `Give a number, such as ${option} ${Math.max(least, 8)}.`,
    })
  }
}

/** Parses the value of an option as a number within a range. */
export function numberWithin(option: string, lowest: number, highest = Number.POSITIVE_INFINITY) {
  return (text: string): number => {
    const value = Number(text)
    if (text.trim() !== '' && Number.isFinite(value) && value >= lowest && value <= highest) return value
    const range = Number.isFinite(highest) ? `from ${lowest} to ${highest}` : `of at least ${lowest}`
    throw new UsageError(`${option} ${text} is not a number ${range}`, {
      fix: `Give a number, such as ${option} ${Number.isFinite(highest) ? 0.9 : 0.7}.`,
    })
  }
}

const units: Record<string, number> = { '': 1, k: 1e3, m: 1e6, g: 1e9 }

/** Parses a size in bytes, such as 500MB or 2GB. */
export function byteCount(option: string): (text: string) => number {
  return (text) => {
    const parts = /^(\d+(?:\.\d+)?)\s*([kmg]?)b?$/i.exec(text.trim())
    const value = parts === null ? 0 : Math.floor(Number(parts[1]) * units[parts[2]!.toLowerCase()]!)
    if (value > 0 && Number.isSafeInteger(value)) return value
    throw new UsageError(`${option} ${text} is not a size`, { fix: `Give a size, such as ${option} 500MB.` })
  }
}
