import type { Suite } from '../suite.ts'
import { codeExpert } from './expert.ts'
import { codeLevels, codeTask } from './generate.ts'
import { CodeProgram } from './program.ts'

export const codeSuite: Suite<CodeProgram> = {
  name: 'code',
  description: 'small programs with hidden tests, from random specifications',
  domain: 'code',
  levels: codeLevels,
  program: CodeProgram,
  generate: codeTask,
  expert: (_task, ...rest) => codeExpert(...rest),
  solution: ({ solution }) => solution,
}
