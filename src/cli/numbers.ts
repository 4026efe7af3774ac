import { UsageError } from '../base/errors/index.ts'

/** The value of an option that counts something. */
export function wholeNumber(option: string, least = 1): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value
    throw new UsageError(`${option} ${text} is not a whole number from ${least}`, {
      fix: `Write digits, such as ${option} ${Math.max(least, 8)}.`,
    })
  }
}

/** The value of an option that may have a fraction. */
export function numberWithin(option: string, lowest: number, highest = Number.POSITIVE_INFINITY) {
  return (text: string): number => {
    const value = Number(text)
    if (text.trim() !== '' && Number.isFinite(value) && value >= lowest && value <= highest) return value
    const range = Number.isFinite(highest) ? `from ${lowest} to ${highest}` : `from ${lowest}`
    throw new UsageError(`${option} ${text} is not a number ${range}`, {
      fix: `Write a number, such as ${option} ${Number.isFinite(highest) ? 0.9 : 0.7}.`,
    })
  }
}

const units: Record<string, number> = { '': 1, k: 1e3, m: 1e6, g: 1e9 }

/** Bytes, such as 500MB or 2GB. */
export function byteCount(option: string): (text: string) => number {
  return (text) => {
    const parts = /^(\d+(?:\.\d+)?)\s*([kmg]?)b?$/i.exec(text.trim())
    const value = parts === null ? 0 : Math.floor(Number(parts[1]) * units[parts[2]!.toLowerCase()]!)
    if (value > 0 && Number.isSafeInteger(value)) return value
    throw new UsageError(`${option} ${text} is not a size`, { fix: `Write it as in ${option} 500MB.` })
  }
}
