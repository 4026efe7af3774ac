import type { Random } from '../../../src/base/random/index.ts'
import { codeSuite } from '../../../src/tasks/suites/code/index.ts'
import { BASE_SPLIT, baseSeed } from '../seeds.ts'
import { type BaseDocument, given, learned } from './document.ts'

/** A small program with its description; sometimes a faulty one, with the fault named. */
export function writeProgram(seed: number, index: number, random: Random): BaseDocument {
  const level = random.pick([1, 1, 1, 2])
  const task = codeSuite.generate({ seed: baseSeed(seed), split: BASE_SPLIT, index, level })
  const { solution, bugs } = task.meta.program
  if (bugs.length > 0 && random.chance(0.2)) {
    const { code, text } = random.pick(bugs)
    return [given(`${task.question}\n\nFaulty:\n${code}\nIt`), learned(` ${text}.\n\nMended:\n${solution}`)]
  }
  return [given(`${task.question}\n\nProgram:\n`), learned(solution)]
}
