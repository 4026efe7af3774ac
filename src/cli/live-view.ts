import { readEnvironment } from '../settings/index.ts'
import { captureOutput } from './live/capture-output.ts'
import type { LiveView } from './live/contract.ts'
import { onExit, onSuspend } from './live/exit-hooks.ts'
import { drawFrame, drawSummary } from './live/live-frame.ts'
import { LiveScreen } from './live/live-screen.ts'
import { LiveState } from './live/live-state.ts'
import { plainView } from './live/plain-view.ts'

const REDRAW_MS = 100
const CLOCK_MS = 1000

/**
 * Shows long work on a terminal, redrawn in place: stages with progress bars, metric curves of the running stage, and a
 * trajectory as it is written. Without a terminal, it prints plain lines.
 */
export function openLiveView(stages: readonly { name: string; purpose: string }[]): LiveView {
  const stream = process.stderr
  if (stream.isTTY !== true || readEnvironment()['TERM'] === 'dumb') return plainView()
  const now = (): number => performance.now()
  const state = new LiveState(stages, now())
  const write = stream.write.bind(stream)
  const size = () => ({ columns: stream.columns ?? 80, rows: stream.rows ?? 24 })
  const screen = new LiveScreen(write, size)
  let drawnAt = Number.NEGATIVE_INFINITY
  let waiting: NodeJS.Timeout | undefined

  const draw = (): void => {
    clearTimeout(waiting)
    waiting = undefined
    drawnAt = now()
    screen.draw(drawFrame(state, size(), drawnAt))
  }
  const changed = (): void => {
    if (waiting !== undefined) return
    const left = drawnAt + REDRAW_MS - now()
    if (left <= 0) draw()
    else waiting = setTimeout(draw, left).unref()
  }
  const above = (text: string): void => {
    screen.above(text)
    draw()
  }
  const close = (clear: boolean): void => {
    clearTimeout(waiting)
    clearInterval(clock)
    for (const end of ends) end()
    screen.close(clear ? [] : drawSummary(state, size().columns, now()))
  }

  const clock = setInterval(changed, CLOCK_MS).unref()
  stream.on('resize', changed)
  const ends = [
    captureOutput(
      [process.stderr, process.stdout].filter(({ isTTY }) => isTTY),
      above,
    ),
    onExit(() => close(false)),
    onSuspend(
      () => screen.showCursor(),
      () => {
        screen.forget()
        draw()
      },
    ),
    () => stream.off('resize', changed),
  ]
  return {
    showsText: true,
    observe: (progress) => {
      state.progress(progress, now())
      changed()
    },
    metric: (row) => {
      state.metric(row)
      changed()
    },
    text: (piece, from) => {
      state.text(piece, from)
      changed()
    },
    trajectory: (title) => {
      state.trajectory(title)
      changed()
    },
    log: above,
    stage: (name, status, note) => {
      state.mark(name, status, note, now())
      changed()
    },
    done: ({ clear = false } = {}) => close(clear),
  }
}
