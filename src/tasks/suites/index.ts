import { codeSuite } from './code/index.ts'
import { mathSuite } from './math/index.ts'
import { searchSuite } from './search/index.ts'
import type { Suite } from './suite.ts'

export type { Dials, Expert, ExpertMessage, Order } from './expert.ts'
export {
  libraryOf,
  searchSuite,
  serveWorld,
  type WorldServer,
  worldTools,
} from './search/index.ts'
export type { GeneratedTask, Suite, TaskRequest } from './suite.ts'

/** The built-in task suites, by name: math, search and code. */
export const suites: ReadonlyMap<string, Suite> = new Map(
  [mathSuite, searchSuite(), codeSuite].map((suite: Suite) => [suite.name, suite]),
)

/** The suite that generated a task, and its program. Undefined for other tasks, even if their suite has the same name. */
export function madeBy(task: {
  suite: string
  meta: Record<string, unknown>
}): { suite: Suite; program: unknown } | undefined {
  const suite = suites.get(task.suite)
  const program = suite?.program.safeParse(task.meta['program'])
  return suite !== undefined && program?.success ? { suite, program: program.data } : undefined
}
