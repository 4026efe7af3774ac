import type { Observe, Progress } from '../base/progress/index.ts'
import { bytes } from './output.ts'

/** Work that takes less time than this prints no progress. */
const SILENT_MS = 700
const TERMINAL_EVERY_MS = 100
const PLAIN_EVERY_MS = 5000
const TICK_MS = 1000
/** How often a line is repeated while there is no news, so that a long wait shows how long it has taken. */
const WAITING_EVERY_MS = 15_000

/**
 * Shows progress and elapsed time on standard error if work takes longer than a moment: a line that is redrawn on a terminal,
 * otherwise a new line every few seconds.
 */
export function showProgress(): Observe & { done: () => void } {
  const terminal = process.stderr.isTTY === true
  const started = performance.now()
  let shown = started + SILENT_MS - (terminal ? TERMINAL_EVERY_MS : PLAIN_EVERY_MS)
  let drawn = false
  let first: { at: number; done: number } | undefined
  let latest: { progress: Progress; isNews: boolean } | undefined
  let ticking: NodeJS.Timeout | undefined
  const draw = (): void => {
    if (latest === undefined) return
    const now = performance.now()
    const plainMs = latest.isNews ? PLAIN_EVERY_MS : WAITING_EVERY_MS
    if (now - shown < (terminal ? TERMINAL_EVERY_MS : plainMs)) return
    shown = now
    latest.isNews = false
    const { progress } = latest
    const rate = (progress.done - first!.done) / ((now - first!.at) / 1000)
    const line = describe(progress, (now - started) / 1000, rate)
    process.stderr.write(terminal ? `\r\u001b[K${line}` : `${line}\n`)
    drawn = terminal
  }
  const observe = (progress: Progress): void => {
    first ??= { at: performance.now(), done: progress.done }
    latest = { progress, isNews: true }
    ticking ??= setInterval(draw, TICK_MS).unref()
    draw()
  }
  const done = (): void => {
    clearInterval(ticking)
    latest = undefined
    if (drawn) process.stderr.write('\r\u001b[K')
  }
  return Object.assign(observe, { done })
}

/** Prints a line on standard error, before or between progress lines. */
export function printNote(text: string): void {
  process.stderr.write(`${text}\n`)
}

function describe({ stage, done, total, unit = '' }: Progress, seconds: number, rate: number): string {
  // Preparations are not counted.
  const counts = total !== undefined ? [done, total] : done > 0 ? [done] : []
  const amount = counts
    .map((count) => (unit === 'bytes' ? bytes(count) : count.toLocaleString('en')))
    .join('/')
  const share =
    total === undefined || total === 0 ? '' : ` ${bar(done / total)} ${Math.floor((100 * done) / total)}%`
  const speed = unit === 'bytes' ? (rate > 0 ? `${bytes(Math.round(rate))}/s` : '') : unit
  return `${stage}${share} ${amount} ${speed} ${seconds.toFixed(0)} s`.replaceAll('  ', ' ')
}

function bar(share: number): string {
  const filled = Math.round(Math.min(1, share) * 20)
  return `${'█'.repeat(filled)}${'░'.repeat(20 - filled)}`
}
