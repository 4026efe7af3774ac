import type { Funnel } from './funnel.ts'

const WIDTH = 640
const HEIGHT = 200
const FLOOR = 176
const TOP = 16
/** Columns; what lies beyond goes into the last. */
const MOST = 25
/** With more columns, only every other has a label: on a phone they would run into each other. */
const LABELS = 14

/** How many sequences had how many tool calls: all of them, and in front those that were kept. */
export function drawHistogram(interactions: Funnel['interactions']): string {
  const columns = toColumns(interactions)
  const highest = Math.max(1, ...columns.map(({ all }) => all))
  const step = WIDTH / Math.max(1, columns.length)
  const rectangle = (count: number, index: number, name: string): string => {
    const height = ((FLOOR - TOP) * count) / highest
    return `<rect class="${name}" x="${(index * step + step * 0.12).toFixed(1)}" y="${(FLOOR - height).toFixed(1)}" width="${(step * 0.76).toFixed(1)}" height="${height.toFixed(1)}" rx="2"/>`
  }
  // Counted from the last column, whose label tells that it holds the rest.
  const shown = (index: number): boolean => columns.length <= LABELS || (columns.length - 1 - index) % 2 === 0
  const drawn = columns.map(({ label, all, kept }, index) => {
    const name = `<text x="${((index + 0.5) * step).toFixed(1)}" y="${HEIGHT - 6}">${label}</text>`
    return `<g><title>${label} tool calls: ${all} sequences, ${kept} kept</title>${rectangle(all, index, 'all')}${rectangle(kept, index, 'kept')}${shown(index) ? name : ''}</g>`
  })
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Sequences by number of tool calls"><text class="most" x="2" y="11">${highest.toLocaleString('en')}</text>${drawn.join('')}</svg>`
}

function toColumns(interactions: Funnel['interactions']): { label: string; all: number; kept: number }[] {
  const last = Math.min(MOST, Math.max(0, ...interactions.map((row) => row.interactions)))
  return Array.from({ length: last + 1 }, (_, calls) => {
    const rows = interactions.filter((row) => Math.min(row.interactions, MOST) === calls)
    const sum = (name: 'all' | 'kept'): number => rows.reduce((total, row) => total + row[name], 0)
    return { label: calls === MOST ? `${MOST}+` : `${calls}`, all: sum('all'), kept: sum('kept') }
  })
}
