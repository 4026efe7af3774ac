import pc from 'picocolors'
import { withoutSecrets } from '../base/errors/index.ts'
import { sanitize } from './sanitize.ts'

/** The colors and styles that commands use, and their resets. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: color codes contain them
const colors = /\u001b\[(?:0|1|2|22|3[0-79]|4[0-79]|9[0-7]|10[0-7])m/
/** Codes that redraw lines: carriage return, clear, cursor up, cursor and wrapping on and off. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: cursor codes contain them
const drawing = /\r|\u001b\[(?:2?K|\d{1,4}A|\?(?:25|7)[hl])/

/**
 * Wraps an output stream of the process, so that no command can pass on escape sequences that a terminal would obey:
 * set its title, write to the clipboard, type a reply. Control characters become \ufffd. Our own sequences pass: colors
 * if they are enabled, redrawing if the stream is a terminal. API keys are redacted.
 */
export function guardOutput(stream: NodeJS.WriteStream): void {
  const allowed = [
    ...(pc.isColorSupported ? [colors.source] : []),
    ...(stream.isTTY === true ? [drawing.source] : []),
  ]
  const own = allowed.length === 0 ? undefined : new RegExp(`(${allowed.join('|')})`)
  const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean
  stream.write = ((chunk: unknown, ...rest: unknown[]) =>
    write(typeof chunk === 'string' ? guarded(chunk, own) : chunk, ...rest)) as typeof stream.write
}

/** The text with all control characters replaced, except matches of `own`, a pattern that is one capture group. */
export function guarded(text: string, own?: RegExp): string {
  const redacted = withoutSecrets(text)
  if (own === undefined) return sanitize(redacted)
  // When splitting by a pattern with a group, every second part is a match of the group.
  return redacted
    .split(own)
    .map((part, index) => (index % 2 === 1 ? part : sanitize(part)))
    .join('')
}
