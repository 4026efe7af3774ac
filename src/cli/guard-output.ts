import pc from 'picocolors'
import { withoutSecrets } from '../base/errors/index.ts'
import { harmless } from './live-text.ts'

/** The colours and styles that commands use, and how they end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are made of them
const colours = /\u001b\[(?:0|1|2|22|3[0-79]|4[0-79]|9[0-7]|10[0-7])m/
/** What redraws a line or a picture: back to its start, clear, up, cursor and wrapping on and off. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: cursor codes are made of them
const drawing = /\r|\u001b\[(?:2?K|\d{1,4}A|\?(?:25|7)[hl])/

/**
 * Stands before a stream of the process, so that no command can pass on what a terminal would obey: a title, the
 * clipboard, a report that types for the user. Control characters are shown as \ufffd; of our own, colours pass where
 * they are on, and redrawing on a terminal. Keys that were read are left out.
 */
export function guardOutput(stream: NodeJS.WriteStream): void {
  const allowed = [
    ...(pc.isColorSupported ? [colours.source] : []),
    ...(stream.isTTY === true ? [drawing.source] : []),
  ]
  const own = allowed.length === 0 ? undefined : new RegExp(`(${allowed.join('|')})`)
  const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean
  stream.write = ((chunk: unknown, ...rest: unknown[]) =>
    write(typeof chunk === 'string' ? guarded(chunk, own) : chunk, ...rest)) as typeof stream.write
}

/** Text with all control characters shown but those of `own`, a pattern with one group around it. */
export function guarded(text: string, own?: RegExp): string {
  const kept = withoutSecrets(text)
  if (own === undefined) return harmless(kept)
  // Split by a pattern with a group, every second part is what the group matched.
  return kept
    .split(own)
    .map((part, index) => (index % 2 === 1 ? part : harmless(part)))
    .join('')
}
