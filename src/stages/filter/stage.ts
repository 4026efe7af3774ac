import { whole } from '../../base/text/index.ts'
import type { Stage } from '../stage.ts'
import { assertKept, type FilterConfig, type FilterSummary, run } from './run.ts'
import { FilterSection } from './settings.ts'

interface FilterOptions {
  dryRun?: boolean
  /** Called with the result, even if nothing was kept and the stage fails. */
  onSummary?: (summary: FilterSummary) => void
}

/** The fourth stage: selects the sequences to train on and records a reason for each one it drops. */
export const filter: Stage<FilterConfig, FilterOptions, FilterSummary> = {
  name: 'filter',
  purpose: 'poor sequences are dropped, with reasons',
  settings: { filter: FilterSection },
  reads: ['sequence', 'trajectory', 'mark'],
  writes: ['filter/'],
  run: async (context, { dryRun = false, onSummary } = {}) => {
    const summary = await run(context.config, { ...context, dryRun })
    onSummary?.(summary)
    if (!dryRun) assertKept(summary, context.run)
    return summary
  },
  describe: ({ sequences = 0, kept = 0 }) => `${whole(kept)} of ${whole(sequences)} kept`,
}
