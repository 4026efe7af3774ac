import pc from 'picocolors'
import type { SpanKind } from '../schema/index.ts'

/** Colour by what a turn is: roles think, calls act, observations come from outside, answers end. */
const names = { role: 'cyan', call: 'yellow', observation: 'dim', answer: 'green' } as const

/** Standard output decides about colours, unless what is painted goes elsewhere. */
export function paintKind(kind: SpanKind, text: string, colours: Colours = pc): string {
  return byLine(colours[names[kind]], text)
}

export type Colours = ReturnType<typeof pc.createColors>

/** Trained text stands out, masked text recedes; without colours, brackets mark what is masked. */
export function paintMask(trained: boolean, text: string): string {
  if (!pc.isColorSupported) return trained ? text : `⟦${text}⟧`
  return byLine(trained ? pc.green : (line) => pc.bgBlackBright(pc.white(line)), text)
}

/** Line by line, because pagers and many terminals drop a colour at the end of a line. */
function byLine(colour: (text: string) => string, text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : colour(line)))
    .join('\n')
}
