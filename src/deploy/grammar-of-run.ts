import { UsageError } from '../base/errors/index.ts'
import type { Run } from '../store/index.ts'

/** The grammar of a run's tasks, by name. */
export function grammarOfRun(run: Run): string {
  const names = new Set<string>()
  for (const { domain } of run.scan('task')) names.add(domain)
  const [name, ...others] = [...names]
  if (name === undefined) {
    throw new UsageError(`run ${run.id} has no tasks, so the grammar of its models is unknown`, {
      fix: 'Name it: --grammar NAME.',
    })
  }
  if (others.length === 0) return name
  throw new UsageError(`the tasks of run ${run.id} have ${names.size} grammars: ${[...names].join(', ')}`, {
    fix: `Choose the one to deploy with: --grammar ${name}.`,
  })
}
