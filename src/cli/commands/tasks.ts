import type { Command } from 'commander'
import { registerTasksGenerate } from './tasks-generate.ts'
import { registerTasksList } from './tasks-list.ts'
import { registerTasksPull } from './tasks-pull.ts'
import { registerTasksShow } from './tasks-show.ts'
import { registerTasksValidate } from './tasks-validate.ts'

export function registerTasks(program: Command): void {
  const tasks = program
    .command('tasks')
    .description('list, show, generate, download and validate tasks')
    .addHelpText('after', '\nExamples:\n  $ coa tasks list\n  $ coa tasks show math')
  registerTasksList(tasks)
  registerTasksShow(tasks)
  registerTasksGenerate(tasks)
  registerTasksPull(tasks)
  registerTasksValidate(tasks)
}
