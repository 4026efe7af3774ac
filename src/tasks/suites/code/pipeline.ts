import { type Json, type Version, version } from './draft.ts'
import type { Stage } from './stages/stage.ts'

/** A stage with erased types; whoever builds the chain makes sure they match. */
export type Link = Stage<Json, Json>
/** Stages, each of which takes the output of the previous one. */
export type Chain = readonly Link[]

export const link = <In extends Json, Out extends Json>(stage: Stage<In, Out>): Link =>
  stage as unknown as Link

export const runChain = (chain: Chain, input: Json): Json =>
  chain.reduce<Json>((values, stage) => stage.run(values), input)

export const pythonOf = (chain: Chain): string => chain.map(({ python }) => python).join('\n')

/** The chain as a function with one parameter. */
export const chainVersion = (parameter: string, chain: Chain): Version =>
  version<[Json]>(
    `${parameter === 'values' ? '' : `values = ${parameter}\n`}${pythonOf(chain)}\nreturn values`,
    {},
    (input) => runChain(chain, input),
  )

interface BrokenChain {
  text: string
  chain: Chain
  isOmission?: true
}

/** Wrong variants: a faulty stage, two swapped neighbors, or an omitted stage. Those from `from` to `to` keep the type. */
export function brokenChains(chain: Chain, from: number, to: number): BrokenChain[] {
  const wrong = chain.flatMap((stage, index): BrokenChain[] =>
    stage.mistake === undefined
      ? []
      : [{ text: stage.mistake.text, chain: chain.with(index, { ...stage, ...stage.mistake }) }],
  )
  const swapped = chain.slice(from + 1, to).map((stage, offset): BrokenChain => {
    const at = from + offset
    const text = `does step ${at + 2} before step ${at + 1}`
    return { text, chain: chain.with(at, stage).with(at + 1, chain[at]!) }
  })
  const omitted = chain.slice(from, to).map((_, offset): BrokenChain => {
    const text = `leaves out step ${from + offset + 1}`
    return { text, chain: chain.toSpliced(from + offset, 1), isOmission: true }
  })
  return [...wrong, ...swapped, ...omitted]
}

/** Instructions as numbered steps. */
export const stepsOf = (chain: Chain): string =>
  chain.map(({ text }, index) => `${index + 1}. ${text}`).join('\n')
