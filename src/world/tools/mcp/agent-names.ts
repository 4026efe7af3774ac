import { builtinGrammars } from '../../../language/grammar/index.ts'

const LONGEST = 64

/** Names that mean something in a chain already. */
export const reservedNames: ReadonlySet<string> = new Set(
  [...builtinGrammars.values()].flatMap((grammar) => [...grammar.agents.keys()]),
)

/**
 * Names for agents out of names of someone else's choosing: lower-case letters, digits and _, none twice, none that
 * the grammars use. `taken` are further names to keep clear of.
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
    const base = (/^[a-z]/.test(plain) ? plain : `tool_${plain}`).slice(0, LONGEST).replace(/_+$/, '')
    let name = base
    for (let copy = 2; used.has(name); copy++) name = `${base.slice(0, LONGEST - 4)}_${copy}`
    used.add(name)
    return name
  })
}
