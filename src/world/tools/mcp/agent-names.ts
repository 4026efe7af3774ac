import { builtinGrammars } from '../../../language/grammar/index.ts'

const MAX_LENGTH = 64

/** Agent names used by the built-in grammars. */
export const reservedNames: ReadonlySet<string> = new Set(
  [...builtinGrammars.values()].flatMap((grammar) => [...grammar.agents.keys()]),
)

/**
 * Converts external names to agent names: lower-case letters, digits and _, all different, and none used by the
 * built-in grammars or in `taken`.
 */
export function agentNames(
  originals: readonly string[],
  prefix = '',
  taken: Iterable<string> = [],
): string[] {
  const used = new Set([...reservedNames, ...taken])
  return originals.map((original) => {
    const plain = `${prefix}${original}`
      .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '_')
      .replace(/^_+/, '')
    const base = (/^[a-z]/.test(plain) ? plain : `tool_${plain}`).slice(0, MAX_LENGTH).replace(/_+$/, '')
    let name = base
    for (let copy = 2; used.has(name); copy++) name = `${base.slice(0, MAX_LENGTH - 4)}_${copy}`
    used.add(name)
    return name
  })
}
