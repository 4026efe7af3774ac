import { questionOf, taskIdOf, toTrajectory } from '../../../logs/index.ts'
import type { Run } from '../../../store/index.ts'
import { DeclaredTools } from '../import/declared-tools.ts'
import { LoggedTasks } from '../import/logged-tasks.ts'
import type { Entry } from './journal.ts'
import { runOfJournal } from './recorded-run.ts'

/** Writes a completed run as a trajectory, with its tools and, if its gold answer is known, its task. */
export function writeRun(run: Run, domain: string, entries: readonly Entry[]): boolean {
  const logged = runOfJournal(entries)
  if (logged === undefined) return false
  const question = logged.question ?? questionOf(logged.items)
  const task = new LoggedTasks(domain, []).taskOf(logged, question)
  const id = logged.id!
  const trajectory = toTrajectory(logged, { id, taskId: task?.id ?? taskIdOf(question), team: 'recorded' })
  const meta = { domain, suite: 'record', ...trajectory.meta }
  const tools = new DeclaredTools()
  tools.offer(logged.tools ?? [])
  tools.add(trajectory)
  tools.addOffered()
  tools.write(run)
  if (task !== undefined && !run.has('task', task.id)) run.append('task', task)
  run.append('trajectory', { ...trajectory, meta })
  return true
}
