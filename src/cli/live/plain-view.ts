import { showProgress } from '../progress.ts'
import type { LiveView } from './contract.ts'

const signs = { done: '✓', failed: '✗' } as const

/** Long work where there is no terminal: a line every few seconds, one for each stage that ends, and no trajectories. */
export function plainView(): LiveView {
  const observe = showProgress()
  const log = (line: string): void => {
    process.stderr.write(`${line}\n`)
  }
  return {
    showsText: false,
    observe,
    // Stages tell their figures with their progress.
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
