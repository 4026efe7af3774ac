/** Numbers, times and names in words. */
const wholes = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

export function whole(value: number): string {
  return wholes.format(value)
}

export function percent(share: number, digits = 0): string {
  return `${(100 * share).toFixed(digits)}%`
}

/** A number with a sensible number of digits. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–'
  if (value !== 0 && (Math.abs(value) >= 1e12 || Math.abs(value) < 1e-4)) return value.toExponential(1)
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return whole(value)
  return String(Number(value.toPrecision(3)))
}

export function signed(value: number): string {
  return `${value > 0 ? '+' : value < 0 ? '−' : ''}${short(Math.abs(value))}`
}

export function bytes(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, count)) / 3))
  return `${short(Number((count / 1000 ** power).toPrecision(2)))} ${units[power]}`
}

export function duration(seconds: number): string {
  if (seconds < 1) return `${whole(seconds * 1000)} ms`
  if (seconds < 60) return `${short(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${whole(seconds % 60)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export function when(time: string | undefined): string {
  if (time === undefined) return ''
  const date = new Date(time)
  const today = new Date().toDateString() === date.toDateString()
  return date.toLocaleString(
    'en-US',
    today
      ? { hour: 'numeric', minute: '2-digit' }
      : { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' },
  )
}

/** "evalLoss", "eval_loss" and "eval/loss" in words. */
export function words(name: string): string {
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .replaceAll('/', ' · ')
    .toLowerCase()
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${whole(count)} ${count === 1 ? one : many}`
}

/** Characters that could not be seen, or could change the order of what is seen, are made visible. */
export function visible(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      .replaceAll(/[\u0000-\u0008\u000b-\u001f]/g, (character) =>
        String.fromCharCode(0x2400 + character.charCodeAt(0)),
      )
      .replaceAll(
        /[\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
        (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
      )
  )
}

/** Code and queries are easier to read as they are than as JSON. */
export function inputText(input: unknown): string {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return typeof input === 'string' ? input : JSON.stringify(input)
  const parts = Object.entries(input).filter(([key]) => key !== 'syntax')
  const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
  return parts
    .map(([key, value]) => (parts.length === 1 ? shown(value) : `${key}: ${shown(value)}`))
    .join('\n')
}
