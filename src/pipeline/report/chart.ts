import { percent } from '../../base/text/index.ts'
import { short } from './format.ts'
import { type Html, html } from './html.ts'

interface Point {
  step: number
  value: number
}

export interface Series {
  name: string
  points: readonly Point[]
}

export interface Chart {
  title: string
  /** An explanation for first-time readers. */
  note?: string
  series: readonly Series[]
  /** Values are shares from 0 to 1. */
  isShare?: boolean
}

const WIDTH = 420
const HEIGHT = 210
const BOX = { left: 46, right: WIDTH - 10, top: 12, bottom: HEIGHT - 30 }
/** More strips than this would be too narrow to hover over. */
const STRIPS = 100
/** The largest value that is plotted. */
const MOST = 1e15
/** Up to this many points get a marker; more would hide the line. */
const MARKS = 24

/** Plots series over training steps. Series differ in color, dash pattern and marker shape. */
export function drawChart({ title, note, series: all, isShare = false }: Chart): Html | undefined {
  const series = all
    .map(({ name, points }) => ({ name, points: points.filter(isDrawable) }))
    .filter(({ points }) => points.length > 0)
  if (series.length === 0) return undefined
  const lost = all.flatMap((each) => each.points).filter((point) => !isDrawable(point))
  const points = series.flatMap((each) => each.points)
  const bottom = Math.min(...points.map(({ value }) => value))
  const top = Math.max(...points.map(({ value }) => value))
  const ticks = isShare ? [0, 0.25, 0.5, 0.75, 1] : niceTicks(...widened(bottom, top), 4)
  const [low, high] = [ticks[0]!, ticks.at(-1)!]
  const first = Math.min(...points.map(({ step }) => step))
  const last = Math.max(...points.map(({ step }) => step))
  const x = (step: number): number =>
    first === last
      ? (BOX.left + BOX.right) / 2
      : BOX.left + ((step - first) / (last - first)) * (BOX.right - BOX.left)
  const y = (value: number): number => BOX.bottom - ((value - low) / (high - low)) * (BOX.bottom - BOX.top)
  const show = (value: number): string => (isShare ? percent(value) : short(value))
  const summary = series.map((each) => `${each.name} ${describe(each.points, show)}`).join('; ')
  return html`<figure class="chart">
<figcaption><b>${title}</b>${note === undefined ? '' : html` <small>${note}</small>`}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}: ${summary}">
${ticks.map((tick) => html`<path class="grid" d="M${BOX.left} ${place(y(tick))}H${BOX.right}"/><text class="y" x="${BOX.left - 6}" y="${place(y(tick) + 4)}">${isShare ? percent(tick, 0) : short(tick)}</text>`)}
${stepTicks(first, last).map((step) => html`<text class="x" x="${place(x(step))}" y="${HEIGHT - 14}">${step}</text>`)}
<text class="x" x="${(BOX.left + BOX.right) / 2}" y="${HEIGHT - 1}">step</text>
${series.map(({ points: own }, index) => html`<g class="series s${index}"><path class="line" d="${own.map((point, at) => `${at === 0 ? 'M' : 'L'}${place(x(point.step))} ${place(y(point.value))}`).join('')}"/>${own.length > MARKS ? '' : own.map((point) => drawMark(index, x(point.step), y(point.value)))}</g>`)}
${strips(series, first, last).map(({ step, from, to, lines }) => html`<rect class="strip" x="${place(x(from))}" y="${BOX.top}" width="${place(Math.max(4, x(to) - x(from)))}" height="${BOX.bottom - BOX.top}"><title>step ${step}${lines.map((line) => `\n${line.name} ${show(line.value)}`)}</title></rect>`)}
</svg>
<ul class="key">${series.map(({ name, points: own }, index) => html`<li><svg viewBox="0 0 28 10" class="sample" aria-hidden="true"><g class="series s${index}"><path class="line" d="M1 5H27"/>${drawMark(index, 14, 5)}</g></svg>${name} <small>${describe(own, show)}</small></li>`)}</ul>
${lost.length === 0 ? '' : html`<p class="note">Not plotted because not finite or too large: ${lost.length === 1 ? 'one value' : `${lost.length} values`}, the first at step ${lost[0]!.step}.</p>`}
</figure>`
}

/** Diverging training produces values that no scale can show. */
function isDrawable({ value }: Point): boolean {
  return Math.abs(value) <= MOST
}

/** A flat curve gets some margin, so that it is visible. */
function widened(low: number, high: number): [number, number] {
  const size = Math.max(Math.abs(low), Math.abs(high))
  if (high - low > 1e-9 * size && high - low > 1e-12) return [low, high]
  const room = size < 1e-6 ? 1 : size / 2
  return [low - room, high + room]
}

function describe(points: readonly Point[], show: (value: number) => string): string {
  const [first, last] = [points[0]!, points.at(-1)!]
  return points.length === 1 ? show(first.value) : `${show(first.value)} → ${show(last.value)}`
}

function stepTicks(first: number, last: number): number[] {
  if (first === last) return [first]
  return niceTicks(first, last, 5).filter((step) => Number.isInteger(step) && step >= first && step <= last)
}

/** Hover areas that show the values of a step. */
function strips(
  series: readonly Series[],
  first: number,
  last: number,
): { step: number; from: number; to: number; lines: { name: string; value: number }[] }[] {
  const steps = [...new Set(series.flatMap(({ points }) => points.map(({ step }) => step)))].sort(
    (one, other) => one - other,
  )
  const every = Math.ceil(steps.length / STRIPS)
  const shown = steps.filter((_, at) => at % every === 0)
  const values = series.map(({ points }) => new Map(points.map(({ step, value }) => [step, value])))
  const middle = (one: number, other: number): number => (one + other) / 2
  return shown.map((step, at) => ({
    step,
    from: at === 0 ? first : middle(shown[at - 1]!, step),
    to: at === shown.length - 1 ? last : middle(step, shown[at + 1]!),
    lines: series.flatMap(({ name }, index) => {
      const value = values[index]!.get(step)
      return value === undefined ? [] : [{ name, value }]
    }),
  }))
}

function drawMark(series: number, x: number, y: number): Html {
  const at = (dx: number, dy: number): string => `${place(x + dx)} ${place(y + dy)}`
  if (series === 1) return html`<path class="mark" d="M${at(-3, -3)}h6v6h-6z"/>`
  if (series === 2) return html`<path class="mark" d="M${at(0, -4)}L${at(4, 3)}L${at(-4, 3)}z"/>`
  return html`<circle class="mark" cx="${place(x)}" cy="${place(y)}" r="2.8"/>`
}

function place(value: number): string {
  return value.toFixed(1)
}

/** About `about` round numbers that cover a range. */
export function niceTicks(low: number, high: number, about: number): number[] {
  const span = high - low
  if (!(span > 0)) return [low]
  const rough = span / about
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough)!
  const ticks: number[] = []
  const first = Math.floor(low / step + 1e-9)
  // Multiplied, because repeated addition would accumulate rounding errors.
  for (let at = first; at * step < high + step * (1 - 1e-9); at++)
    ticks.push(Number((at * step).toPrecision(12)))
  return ticks
}
