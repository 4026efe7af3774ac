import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { percent, short } from './format.ts'

export interface Series {
  name: string
  steps: readonly number[]
  values: readonly (number | null)[]
  /** Lines of one run have one color; lines of one metric have one dash. */
  color: number
  dash: number
}

export interface ChartProps {
  title: string
  note?: string | undefined
  series: readonly Series[]
  isShare?: boolean | undefined
  isLog?: boolean
  /** A click on a step. */
  onStep?: ((step: number) => void) | undefined
}

const HEIGHT = 190
const dashes = [[], [6, 3], [2, 3], [10, 3, 2, 3]]
/** Up to this many points get a marker. */
const MARKS = 24
const TABLE_ROWS = 200

/** Curves over training steps, with their values as a table. */
export function Chart({
  title,
  note,
  series,
  isShare = false,
  isLog = false,
  onStep,
}: ChartProps): ReactNode {
  const box = useRef<HTMLDivElement>(null)
  const theme = useTheme()
  const step = useRef(onStep)
  step.current = onStep
  const titleId = useId()
  const show = (value: number | null | undefined): string =>
    value === null || value === undefined ? '–' : isShare ? percent(value, 1) : short(value)

  // biome-ignore lint/correctness/useExhaustiveDependencies: colors are read again when the theme changes
  useEffect(() => {
    const host = box.current!
    const { data, plotted } = joined(series)
    const color = colorsOf(host)
    const options: UPlot.Options = {
      width: host.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { points: { size: 7 }, drag: { x: true, y: false } },
      scales: {
        x: { time: false },
        y: isLog
          ? { distr: 3 }
          : isShare
            ? { range: [0, 1] }
            : { range: (_, low, high) => (low === high ? [low - 1, high + 1] : padded(low, high)) },
      },
      axes: [
        {
          stroke: color('--faint'),
          grid: { show: false },
          ticks: { show: false },
          size: 26,
          font: '11px system-ui',
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000],
        },
        {
          stroke: color('--faint'),
          grid: { stroke: color('--line'), width: 1 },
          ticks: { show: false },
          size: 46,
          font: '11px system-ui',
          values: (_, ticks) =>
            ticks.map((tick) => (tick === null ? '' : isShare ? percent(tick) : short(tick))),
        },
      ],
      series: [
        {},
        ...plotted.map((each) => ({
          label: each.name,
          stroke: color(`--h${each.color % 7}`),
          width: 2,
          dash: dashes[each.dash % dashes.length]!,
          spanGaps: true,
          points: { show: each.steps.length <= MARKS, size: 5 },
        })),
      ],
      hooks: {
        setCursor: [(plot) => setHover(plot.cursor.idx ?? undefined)],
        ready: [
          (plot) => {
            plot.over.addEventListener('click', () => {
              const index = plot.cursor.idx
              const at = typeof index === 'number' ? plot.data[0][index] : undefined
              if (at !== undefined) step.current?.(at)
            })
          },
        ],
      },
    }
    const plot = new UPlot(options, data, host)
    const observer = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height: HEIGHT }))
    observer.observe(host)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [series, isShare, isLog, theme])

  const [hover, setHover] = useState<number>()
  const { data } = joined(series)
  const steps = data[0] as number[]
  return (
    <figure className="chart">
      <figcaption id={titleId}>
        <b>{title}</b> {note !== undefined && <small>{note}</small>}
      </figcaption>
      <div
        className={onStep === undefined ? 'plot' : 'plot clickable'}
        ref={box}
        role="img"
        aria-label={`${title}: ${series.map(({ name, values }) => `${name} from ${show(values[0])} to ${show(values.at(-1))}`).join('; ')}`}
      />
      <ul className="key">
        {series.map((each, index) => (
          <li key={each.name}>
            <svg viewBox="0 0 28 10" aria-hidden="true" className={`sample hue${each.color % 7}`}>
              <path d="M1 5H27" strokeDasharray={dashes[each.dash % dashes.length]!.join(' ')} />
            </svg>
            {each.name}{' '}
            <b>
              {show(hover === undefined ? each.values.at(-1) : (data[index + 1]?.[hover] as number | null))}
            </b>
          </li>
        ))}
        {hover !== undefined && steps[hover] !== undefined && <li className="at">step {steps[hover]}</li>}
      </ul>
      <details>
        <summary>
          Table<span className="unseen"> of {title}</span>
        </summary>
        <div className="scroll" tabIndex={0} role="region" aria-label={`Values of ${title}`}>
          <table>
            <thead>
              <tr>
                <th scope="col">step</th>
                {series.map(({ name }) => (
                  <th scope="col" key={name}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {steps.slice(-TABLE_ROWS).map((at, row) => (
                <tr key={at}>
                  <th scope="row">
                    {onStep === undefined ? (
                      at
                    ) : (
                      <button type="button" className="link" onClick={() => onStep(at)}>
                        {at}
                      </button>
                    )}
                  </th>
                  {series.map(({ name }, index) => (
                    <td key={name}>
                      {show(data[index + 1]?.[Math.max(0, steps.length - TABLE_ROWS) + row] as number | null)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  )
}

function padded(low: number, high: number): [number, number] {
  const room = (high - low) * 0.06
  return [low >= 0 && low < (high - low) / 2 ? 0 : low - room, high + room]
}

/** All series over the same steps. */
function joined(series: readonly Series[]): { data: UPlot.AlignedData; plotted: readonly Series[] } {
  const steps = [...new Set(series.flatMap((each) => each.steps))].sort((one, other) => one - other)
  const columns = series.map((each) => {
    const values = new Map(each.steps.map((at, index) => [at, each.values[index] ?? null]))
    return steps.map((at) => values.get(at) ?? null)
  })
  return { data: [steps, ...columns] as UPlot.AlignedData, plotted: series }
}

/** Colors of the style sheet as the canvas needs them. */
function colorsOf(host: HTMLElement): (name: string) => string {
  return (name) => {
    const probe = document.createElement('span')
    probe.style.color = `var(${name})`
    host.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color
  }
}

/** Changes when the colors change. */
function useTheme(): number {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const media = matchMedia('(prefers-color-scheme: dark)')
    const change = (): void => setCount((old) => old + 1)
    media.addEventListener('change', change)
    addEventListener('themechange', change)
    return () => {
      media.removeEventListener('change', change)
      removeEventListener('themechange', change)
    }
  }, [])
  return count
}
