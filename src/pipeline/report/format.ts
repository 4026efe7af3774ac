import { whole } from '../../base/text/index.ts'
/** A number with a sensible number of digits. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '–'
  if (Math.abs(value) >= 1e12) return value.toExponential(2)
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return whole(value)
  return String(Number(value.toPrecision(3)))
}

export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 1) return 'under a second'
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** The start of a long text, and how much is cut off. */
export function clip(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most).toWellFormed()} … ${whole(text.length - most)} more characters`
}
