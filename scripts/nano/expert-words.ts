import { Random } from '../../src/base/random/index.ts'
import type { Task } from '../../src/schema/index.ts'
import { carefulDials } from '../../src/stages/teach/index.ts'
import { type Expert, type ExpertMessage, type Suite, searchSuite } from '../../src/tasks/index.ts'
import { mathSuite } from '../../src/tasks/suites/math/index.ts'
import type { ToolResult } from '../../src/world/tools/index.ts'
import { BASE_SPLIT, baseSeed } from './seeds.ts'

/**
 * Sentences of the scripted experts, each on its own and without tags. The tokenizer is also trained on them, so that
 * what the model will have to write later takes few tokens.
 */
export function* expertSentences(count: number): Generator<string> {
  const suites: Suite[] = [mathSuite, searchSuite(baseSeed(0))]
  for (let index = 0; index < count; index++) {
    for (const suite of suites) {
      const level = suite.levels[0] + (index % 2)
      const task = suite.generate({ seed: baseSeed(0), split: BASE_SPLIT, index, level })
      const expert = suite.expert(task, task.meta.program, new Random('expert', index), carefulDials)
      for (const { thought, text } of turnsOf(expert, task)) yield `${thought}\n${text}`
    }
  }
}

function* turnsOf(expert: Expert, task: Task): Generator<ExpertMessage> {
  yield expert.facts()
  yield expert.plan()
  const order = expert.next()
  yield order
  if ('call' in order) yield { thought: order.callThought, text: order.call }
  yield expert.report(answerTo(task))
  yield expert.reflect()
  yield expert.check('unknown')
  yield expert.answer('unknown')
}

/** A plausible tool answer: for search, the page of the first step. */
function answerTo({ meta }: Task): ToolResult {
  const { steps } = meta['program'] as unknown as {
    steps: { says?: string[]; name?: string; value: string }[]
  }
  const { says, name, value } = steps[0]!
  return { ok: true, text: says?.join(' ') ?? `${name} = ${value}` } as ToolResult
}
