import type { TaskGenerator } from '../contract.ts'
import { codeGenerator } from './code/index.ts'
import { mathGenerator } from './math/index.ts'
import { searchGenerator } from './search/index.ts'

/** The suites coa makes itself, by name. */
export const generators: ReadonlyMap<string, TaskGenerator> = new Map(
  [mathGenerator, searchGenerator(), codeGenerator].map((generator) => [generator.name, generator]),
)
