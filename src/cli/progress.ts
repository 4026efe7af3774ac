import type { Observe, Progress } from '../base/progress/index.ts'

/** Work that takes less time than this prints no progress. */
const SILENT_MS = 1000
const TERMINAL_EVERY_MS = 100
const PLAIN_EVERY_MS = 5000

/**
 * Shows progress on standard error if work takes more than a second: a line that is redrawn on a terminal, otherwise a
 * new line every few seconds.
 */
export function showProgress(): Observe & { done: () => void } {
  const terminal = process.stderr.isTTY === true
  const started = performance.now()
  let shown = started + SILENT_MS - (terminal ? TERMINAL_EVERY_MS : PLAIN_EVERY_MS)
  let drawn = false
  const observe = (progress: Progress): void => {
    const now = performance.now()
    if (now - shown < (terminal ? TERMINAL_EVERY_MS : PLAIN_EVERY_MS)) return
    shown = now
    const line = describe(progress, (now - started) / 1000)
    process.stderr.write(terminal ? `\r\u001b[K${line}` : `${line}\n`)
    drawn = terminal
  }
  const done = (): void => {
    if (drawn) process.stderr.write('\r\u001b[K')
  }
  return Object.assign(observe, { done })
}

/** Prints a line on standard error, before or between progress lines. */
export function printNote(text: string): void {
  process.stderr.write(`${text}\n`)
}

function describe({ stage, done, total, unit = '' }: Progress, seconds: number): string {
  const amount =
    total === undefined
      ? done.toLocaleString('en')
      : `${done.toLocaleString('en')}/${total.toLocaleString('en')}`
  const share =
    total === undefined || total === 0 ? '' : ` ${bar(done / total)} ${Math.floor((100 * done) / total)}%`
  return `${stage}${share} ${amount} ${unit} ${seconds.toFixed(0)} s`.replaceAll('  ', ' ')
}

function bar(share: number): string {
  const filled = Math.round(Math.min(1, share) * 20)
  return `${'█'.repeat(filled)}${'░'.repeat(20 - filled)}`
}
