import type { Random } from '../../../src/base/random/index.ts'
import { builtinGrammars } from '../../../src/language/grammar/index.ts'
import { type BaseDocument, given, learned } from './document.ts'

/** The tags of the grammars that come with coa, and of a tool that nano knows by sight although none of them has it. */
export const agentTags: readonly string[] = [
  ...new Set(
    [
      ...[...builtinGrammars.values()].flatMap(({ agents }) => [...agents.values()]),
      { tag: 'visual_inspector' },
    ].flatMap(({ tag }) => [`<${tag}>`, `</${tag}>`]),
  ),
]

/** Tags as items of a list, in any order and with nothing inside them: known by sight, not by use. */
export function listTags(random: Random): BaseDocument {
  const tags = random.sample(agentTags, random.int(2, 6))
  return [given(`List: ${tags.join(' ')}\nOnce more:`), learned(` ${tags.join(' ')}`)]
}
