export function whole(count: number): string {
  return count.toLocaleString('en')
}

export function percent(part: number, of: number): string {
  return of === 0 ? '–' : `${((100 * part) / of).toFixed(1)} %`
}
