import { whole } from '../../base/text/index.ts'
import { TeacherSection } from '../../world/settings.ts'
import type { Stage } from '../stage.ts'
import { run, type TeachConfig } from './run.ts'
import { TeachSection } from './settings.ts'

/**
 * The second stage: a team of agents solves the tasks with real tools, and every event is recorded as a trajectory.
 */
export const teach: Stage<TeachConfig> = {
  name: 'teach',
  purpose: 'a team of agents solves them with real tools',
  settings: { teach: TeachSection, teacher: TeacherSection },
  reads: ['task'],
  writes: ['trajectory', 'sequence'],
  run: async (context) => ({ figures: await run(context.config, context) }),
  describe: ({ correct = 0, trajectories = 0, 'tool calls': calls = 0 }) =>
    `${whole(correct)} of ${whole(trajectories)} correct, ${whole(calls)} tool calls`,
}
