/** "84.0%", or a dash if there is no value. */
export function percent(share: number | null | undefined, digits = 1): string {
  return Number.isFinite(share) ? `${(100 * share!).toFixed(digits)}%` : '–'
}

/** "1,234", rounded. */
export function whole(count: number): string {
  return Math.round(count).toLocaleString('en')
}
