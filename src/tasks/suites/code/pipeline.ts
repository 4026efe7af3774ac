import { type Json, type Version, version } from './draft.ts'
import type { Stage } from './stages/stage.ts'

/** A stage whose types are known to whoever puts the chain together, and to nobody else. */
export type Link = Stage<Json, Json>
/** Stages in an order in which each takes what the one before it gives. */
export type Chain = readonly Link[]

export const link = <In extends Json, Out extends Json>(stage: Stage<In, Out>): Link =>
  stage as unknown as Link

export const runChain = (chain: Chain, input: Json): Json =>
  chain.reduce<Json>((values, stage) => stage.run(values), input)

export const pythonOf = (chain: Chain): string => chain.map(({ python }) => python).join('\n')

/** The chain as a function of one parameter. */
export const chainVersion = (parameter: string, chain: Chain): Version =>
  version<[Json]>(
    `${parameter === 'values' ? '' : `values = ${parameter}\n`}${pythonOf(chain)}\nreturn values`,
    (input) => runChain(chain, input),
  )

interface BrokenChain {
  text: string
  chain: Chain
  isOmission?: true
}

/** Each stage done wrong, two neighbours in the wrong order, a stage left out. Those from `from` up to `to` keep the type. */
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
  const left = chain.slice(from, to).map((_, offset): BrokenChain => {
    const text = `leaves out step ${from + offset + 1}`
    return { text, chain: chain.toSpliced(from + offset, 1), isOmission: true }
  })
  return [...wrong, ...swapped, ...left]
}

/** Instructions as numbered steps. */
export const stepsOf = (chain: Chain): string =>
  chain.map(({ text }, index) => `${index + 1}. ${text}`).join('\n')
