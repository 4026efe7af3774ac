import { openStudent, openWorld } from '../../agent/index.ts'
import { fingerprintOfFolder } from '../../engine/index.ts'
import type { StageContext } from '../stage.ts'
import { type Chosen, chooseTasks } from './choose-tasks.ts'
import type { RlConfig } from './config.ts'
import { practiceTasks } from './practice-tasks.ts'
import { startOf } from './start-of.ts'

/** Measures the model that RL would begin with on the tasks it would practise on, and says which are kept. */
export async function filterQueries(context: StageContext<RlConfig>): Promise<Chosen> {
  const { run, config, onFinding } = context
  const { tasks } = await practiceTasks(run, config, { onNote: onFinding })
  const student = await openStudent(config, startOf(run, config), (line) => run.log(line))
  const { folder } = student
  try {
    const world = await openWorld(config)
    try {
      const policy = { ...student, checkpoint: folder }
      const fingerprint = fingerprintOfFolder(folder)
      return await chooseTasks(tasks, { ...context, policy, fingerprint, world, measureAll: true })
    } finally {
      await world.close()
    }
  } finally {
    await student.engine.close()
  }
}
