import type { LiveChange } from '../api.ts'
import type { RunEndpoint } from './readers.ts'
import type { JobsByRun } from './runs.ts'

/** What the server asks the thread that reads runs. */
export type ToThread =
  | {
      type: 'read'
      id: number
      endpoint: RunEndpoint
      names: readonly string[]
      query: Readonly<Record<string, string>>
      jobs: JobsByRun
      body?: unknown
    }
  /** Follow these runs, and the list of them; nothing if nobody looks. */
  | { type: 'watch'; runs: readonly string[]; isAnyone: boolean; jobs: JobsByRun }
  | { type: 'close' }

export type FromThread =
  | { type: 'ready' }
  | { type: 'reply'; id: number; json: string }
  | { type: 'problem'; id: number; status: number; message: string; code: string; fix?: string | undefined }
  | { type: 'changes'; changes: LiveChange[] }
