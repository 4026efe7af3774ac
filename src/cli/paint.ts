import pc from 'picocolors'
import type { SpanKind } from '../schema/index.ts'

/** Colour by what a turn is: roles think, calls act, observations come from outside, answers end. */
const colours: Record<SpanKind, (text: string) => string> = {
  role: pc.cyan,
  call: pc.yellow,
  observation: pc.dim,
  answer: pc.green,
}

export function paintKind(kind: SpanKind, text: string): string {
  return byLine(colours[kind], text)
}

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
