import { z } from 'zod'
import type { TaskGenerator } from '../../contract.ts'
import { mathTask } from './generate.ts'
import { mathLevels } from './scale.ts'

const Program = z.object({ slips: z.array(z.object({ answer: z.string() })).min(1) })

export const mathGenerator: TaskGenerator = {
  name: 'math',
  description: 'multi-step quantity problems from random programs, with numbers too large for the head',
  domain: 'math',
  levels: mathLevels,
  task: mathTask,
  rightAnswer: ({ gold }) => (gold.checker === 'math' ? gold.answer : ''),
  wrongAnswer: ({ meta }) => Program.parse(meta['program']).slips[0]!.answer,
}
