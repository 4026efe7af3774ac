import { whole } from '../../base/text/index.ts'
import type { Stage } from '../stage.ts'
import type { CheckSummary } from './report.ts'
import { type CheckConfig, type CheckOptions, checkRun } from './run.ts'
import { CheckSection } from './settings.ts'

/** Gives verdicts to answers that nothing has checked, such as those of imported logs. */
export const check: Stage<CheckConfig, CheckOptions, CheckSummary> = {
  name: 'check',
  purpose: 'answers are compared with gold answers',
  settings: { check: CheckSection },
  reads: ['trajectory', 'sequence', 'task'],
  writes: ['trajectory', 'sequence'],
  run: (context, options = {}) => checkRun(context, options),
  describe: ({ correct = 0, wrong = 0, undecided = 0, unchecked = 0 }) =>
    `${whole(correct)} correct, ${whole(wrong)} wrong, ${whole(undecided)} undecided, ${whole(unchecked)} unchecked`,
}
