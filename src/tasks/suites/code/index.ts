import { z } from 'zod'
import type { Task } from '../../../schema/index.ts'
import type { TaskGenerator } from '../../contract.ts'
import { codeLevels, codeTask } from './generate.ts'

const Program = z.object({
  solution: z.string(),
  bugs: z.array(z.object({ code: z.string(), text: z.string() })).min(1),
})

const programOf = ({ meta }: Task): z.infer<typeof Program> => Program.parse(meta['program'])

export const codeGenerator: TaskGenerator = {
  name: 'code',
  description: 'small programs with hidden tests, put together from random specifications',
  domain: 'code',
  levels: codeLevels,
  task: codeTask,
  rightAnswer: (task) => programOf(task).solution,
  wrongAnswer: (task) => programOf(task).bugs[0]!.code,
}
