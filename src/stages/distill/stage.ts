import { whole } from '../../base/text/index.ts'
import { readEnvironment } from '../../settings/index.ts'
import { modelFromSettings } from '../../world/models/index.ts'
import type { Stage } from '../stage.ts'
import { type DistillConfig, type DistillContext, run } from './run.ts'
import { DistillSection } from './settings.ts'
import { smoothWith } from './smooth.ts'
import type { DistillSummary } from './tally.ts'

type Options = Pick<DistillContext, 'again' | 'dryRun' | 'react' | 'strict'>

/** The third stage: merges each trajectory of the team into a single-agent sequence. */
export const distill: Stage<DistillConfig, Options, DistillSummary> = {
  name: 'distill',
  purpose: "the team's transcripts become single-agent sequences",
  settings: { distill: DistillSection },
  reads: ['task', 'trajectory', 'rollout', 'mark'],
  writes: ['sequence'],
  run: async (context, options = {}) => {
    const { config } = context
    const model =
      options.dryRun === true ? undefined : modelFromSettings('distill', config.distill, readEnvironment())
    const smooth = model === undefined ? {} : { smooth: smoothWith(model) }
    return await run(config, { ...context, ...options, ...smooth })
  },
  describe: ({ sequences = 0, failed = 0 }) => `${whole(sequences)} sequences, ${whole(failed)} failed`,
}
