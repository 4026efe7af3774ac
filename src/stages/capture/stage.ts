import { UsageError } from '../../base/errors/index.ts'
import { whole } from '../../base/text/index.ts'
import type { Stage } from '../stage.ts'
import {
  type RecordConfig,
  type RecordOptions,
  type RecordSummary,
  recordRuns,
} from './gateway/record-runs.ts'
import { type ImportConfig, type ImportOptions, importLogs } from './import/import-logs.ts'
import type { ImportSummary } from './import/import-report.ts'

/** Reads logs of other agent systems, in place of `teach`. */
export const importRuns: Stage<ImportConfig, ImportOptions, ImportSummary> = {
  name: 'import',
  purpose: 'logs of other agent systems become trajectories',
  settings: {},
  reads: [],
  writes: ['trajectory', 'task', 'tool'],
  run: (context, options = { files: [] }) => importLogs(context, options),
  describe: ({ runs = 0, unreadable = 0 }) =>
    `${whole(runs)} runs, ${whole(unreadable)} records could not be read`,
}

/** Records a live system's model calls, in place of `teach`. */
export const record: Stage<RecordConfig, RecordOptions, RecordSummary> = {
  name: 'record',
  purpose: "a live system's model calls become trajectories",
  settings: {},
  reads: [],
  writes: ['recorded', 'trajectory', 'task', 'tool'],
  run: (context, options) => {
    if (options === undefined) throw new UsageError('there is no upstream', { fix: 'Name its URL.' })
    return recordRuns(context, options)
  },
  describe: ({ runs = 0, calls = 0 }) => `${whole(runs)} runs, ${whole(calls)} calls`,
}
