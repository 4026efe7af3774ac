import { z } from 'zod'
import { PathName } from './path-name.ts'

const StageStatus = z.enum(['running', 'done', 'failed', 'interrupted'])

/** What a run folder is about, and the status of each stage. */
export const RunManifest = z.object({
  v: z.literal(1),
  id: PathName,
  createdAt: z.iso.datetime(),
  /** Version of coa that created the run. */
  coa: z.string(),
  /** The command that created the run, such as `coa quickstart --fast`. */
  command: z.string(),
  stages: z
    .record(
      z.string(),
      z.object({
        status: StageStatus,
        startedAt: z.iso.datetime(),
        endedAt: z.iso.datetime().optional(),
        summary: z.record(z.string(), z.json()).default({}),
      }),
    )
    .default({}),
})
export type RunManifest = z.infer<typeof RunManifest>
