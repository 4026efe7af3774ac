import type { Random } from '../../../src/base/random/index.ts'
import { builtinGrammars } from '../../../src/language/grammar/index.ts'
import { type BaseDocument, given, learned } from './document.ts'

/** The tags of the built-in grammars, and of a tool that nano's vocabulary includes although no grammar has it. */
export const agentTags: readonly string[] = [
  ...new Set(
    [
      ...[...builtinGrammars.values()].flatMap(({ agents }) => [...agents.values()]),
      { tag: 'visual_inspector' },
    ].flatMap(({ tag }) => [`<${tag}>`, `</${tag}>`]),
  ),
]

/** Tags as list items, in random order and without content, so that the model knows the tokens but not their use. */
export function listTags(random: Random): BaseDocument {
  const tags = random.sample(agentTags, random.int(2, 6))
  return [given(`List: ${tags.join(' ')}\nOnce more:`), learned(` ${tags.join(' ')}`)]
}
