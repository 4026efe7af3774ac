import type { Random } from '../../../base/random/index.ts'
import type { Draft, Json, Mistake, ValueType, Version } from './draft.ts'
import { brokenChains, type Chain, type Link, link, pythonOf, runChain, stepsOf } from './pipeline.ts'
import { intsStages } from './stages/ints.ts'
import { intsResults } from './stages/ints-results.ts'
import { numberStages } from './stages/numbers.ts'
import { pairStages } from './stages/pairs.ts'
import { stringStages } from './stages/strings.ts'
import { wordResults, wordStages } from './stages/words.ts'

/** Samples several different stages. */
export function sampleStages(
  random: Random,
  makers: readonly ((random: Random) => Link)[],
  count: number,
): Link[] {
  const chain: Link[] = []
  for (const make of random.sample(makers, count)) {
    const made = make(random)
    if (chain.every(({ name }) => name !== made.name)) chain.push(made)
  }
  return chain
}

export const makers = {
  int: numberStages.map((make) => (random: Random) => link(make(random))),
  ints: intsStages.map((make) => (random: Random) => link(make(random))),
  str: stringStages.map((make) => (random: Random) => link(make(random))),
  strs: wordStages.map((make) => (random: Random) => link(make(random))),
}

interface Extension {
  chain: Chain
  returns: ValueType
  /** The range of stages that keep the type and can thus be swapped. */
  same: readonly [number, number]
}

function extensionFor(random: Random, type: ValueType, count: number): Extension | undefined {
  if (type === 'pairs') {
    const numbers = link(random.pick(pairStages)(random))
    const rest = extensionFor(random, 'ints', Math.max(1, count - 1))!
    return { ...rest, chain: [numbers, ...rest.chain], same: [1, rest.same[1] + 1] }
  }
  if (type === 'int' || type === 'str') {
    const chain = sampleStages(random, makers[type], count)
    return { chain, returns: type, same: [0, chain.length] }
  }
  if (type !== 'ints' && type !== 'strs') return undefined
  const chain = sampleStages(random, makers[type], count)
  const same = [0, chain.length] as const
  if (random.chance(0.5)) return { chain, returns: type, same }
  if (type === 'ints')
    return { chain: [...chain, link(random.pick(intsResults)(random))], returns: 'int', same }
  return { chain: [...chain, link(wordResults.joined(random))], returns: 'str', same }
}

/** Adds stages to a draft: the draft becomes an inner function, and the stages process its result. */
export function extend(random: Random, draft: Draft, count: number): Draft {
  const extension = count === 0 ? undefined : extensionFor(random, draft.returns, count)
  if (extension === undefined) return draft
  const { chain, returns, same } = extension
  const names = draft.parameters.map(({ name }) => name).join(', ')
  const after = (first: Version, steps: Chain): Version => ({
    python: `def first_part(${names}):\n${indented(first.python)}\n\nvalues = first_part(${names})\n${pythonOf(steps)}\nreturn values`,
    run: (...args: Json[]) => runChain(steps, first.run(...args)),
  })
  const faults = brokenChains(chain, ...same)
  const broken = faults.map(({ text, chain: steps }): Mistake => ({ ...after(draft.right, steps), text }))
  const wrongFirst = draft.mistakes.map((wrong): Mistake => ({ ...after(wrong, chain), text: wrong.text }))
  return {
    ...{ ...draft, returns, entry: `${draft.entry}_then`, right: after(draft.right, chain) },
    mistakes: [...random.shuffle(wrongFirst), ...random.shuffle(broken)],
    spec: [
      `First part: ${draft.spec
        .join(' ')
        .replace(/\bReturn\b/g, 'Find')
        .replace(/\breturn\b/g, 'find')}`,
      chain.length === 1
        ? `\n\nSecond part: do the following with the result of the first part, and return what comes out.\n${chain[0]!.text}`
        : `\n\nSecond part: do the following with the result of the first part, in this order, and return what comes out.\n${stepsOf(chain)}`,
    ],
    needed: broken.filter((_, index) => faults[index]!.isOmission),
    stages: [...draft.stages, ...chain.map(({ name }) => name)],
  }
}

export const indented = (python: string): string =>
  python
    .split('\n')
    .map((line) => (line === '' ? line : `    ${line}`))
    .join('\n')
