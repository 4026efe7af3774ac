import { showProgress } from '../progress.ts'
import type { LiveView } from './contract.ts'

const signs = { done: '✓', failed: '✗' } as const

/** The view without a terminal: a line every few seconds and for each completed stage, but no trajectories. */
export function plainView(): LiveView {
  const observe = showProgress()
  const log = (line: string): void => {
    process.stderr.write(`${line}\n`)
  }
  return {
    showsText: false,
    observe,
    // Stages include their metrics in their progress.
    metric: () => {},
    text: () => {},
    trajectory: () => {},
    log,
    stage: (name, status, note) => {
      if (status === 'done' || status === 'failed')
        log(`${signs[status]} ${name}${note === undefined ? '' : `: ${note}`}`)
    },
    done: observe.done,
  }
}
