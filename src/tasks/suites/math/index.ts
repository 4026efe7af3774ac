import type { Suite } from '../suite.ts'
import { mathExpert } from './expert.ts'
import { mathTask } from './generate.ts'
import { MathProgram } from './program.ts'
import { mathLevels } from './scale.ts'

export const mathSuite: Suite<MathProgram> = {
  name: 'math',
  description: 'multi-step word problems from random programs, with numbers too large for mental arithmetic',
  domain: 'math',
  levels: mathLevels,
  program: MathProgram,
  generate: mathTask,
  expert: ({ gold }, ...rest) => mathExpert(gold.checker === 'math' ? gold.answer : '', ...rest),
}
