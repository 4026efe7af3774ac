import pc from 'picocolors'
import type { SpanKind } from '../schema/index.ts'

/** Colors by kind of turn. */
const names = { role: 'cyan', call: 'yellow', observation: 'dim', answer: 'green' } as const

/** Without `colors`, standard output decides whether there are any. */
export function paintKind(kind: SpanKind, text: string, colors: Colors = pc): string {
  return byLine(colors[names[kind]], text)
}

export type Colors = ReturnType<typeof pc.createColors>

/** Trained text is green and masked text gray; without colors, masked text is in brackets. */
export function paintMask(trained: boolean, text: string): string {
  if (!pc.isColorSupported) return trained ? text : `⟦${text}⟧`
  return byLine(trained ? pc.green : (line) => pc.bgBlackBright(pc.white(line)), text)
}

/** Line by line, because pagers and many terminals reset colors at the end of a line. */
function byLine(color: (text: string) => string, text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : color(line)))
    .join('\n')
}
