import { escapeHtml, percent } from '../../base/text/index.ts'
import type { SolverReport } from '../../schema/index.ts'

const WIDTH = 640
const HEIGHT = 260
const LEFT = 60
const FLOOR = 228
const TOP = 12

/** How the chance of a right answer grows with the number of attempts: one line a solver. */
export function drawScaling(solvers: readonly SolverReport[]): string {
  const ks = [...new Set(solvers.flatMap(({ pass }) => pass.map(({ k }) => k)))].sort((a, b) => a - b)
  const x = (k: number): number => LEFT + ((WIDTH - LEFT - 20) * ks.indexOf(k)) / Math.max(1, ks.length - 1)
  const y = (share: number): number => FLOOR - (FLOOR - TOP) * share
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      `<line class="grid" x1="${LEFT}" x2="${WIDTH}" y1="${y(share)}" y2="${y(share)}"/><text x="0" y="${y(share) + 4}">${percent(share, 0)}</text>`,
  )
  const labels = ks.map(
    (k) => `<text x="${x(k).toFixed(1)}" y="${HEIGHT - 8}" text-anchor="middle">${k}</text>`,
  )
  const lines = solvers.map(({ name, pass }, at) => {
    const points = pass.map(({ k, strict }) => `${x(k).toFixed(1)},${y(strict.value).toFixed(1)}`)
    const dots = pass.map(
      ({ k, strict }) =>
        `<line x1="${x(k).toFixed(1)}" x2="${x(k).toFixed(1)}" y1="${y(strict.low).toFixed(1)}" y2="${y(strict.high).toFixed(1)}" stroke="var(--s${at % 6})" opacity=".45" stroke-width="2"/><circle cx="${x(k).toFixed(1)}" cy="${y(strict.value).toFixed(1)}" r="4" fill="var(--s${at % 6})"><title>${escapeHtml(name)}, pass@${k}: ${percent(strict.value)}</title></circle>`,
    )
    return `<polyline class="line" stroke="var(--s${at % 6})" points="${points.join(' ')}"/>${dots.join('')}`
  })
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Share of tasks solved by the number of attempts">${grid.join('')}${labels.join('')}${lines.join('')}</svg>`
}
