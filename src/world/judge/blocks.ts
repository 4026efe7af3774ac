import { randomBytes } from 'node:crypto'

/**
 * Markers around material to judge, with a random code made for one prompt, so that no text can close its own block and
 * continue as instructions.
 */
export function markers(): { code: string; block: (name: string, text: string) => string } {
  const code = randomBytes(9).toString('hex')
  return { code, block: (name, text) => `<<${name} ${code}>>\n${text}\n<<end of ${name} ${code}>>` }
}

/** Longer texts are cut in the middle: the plan and the result are usually at the start and the end. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text
  const half = limit / 2
  return `${text.slice(0, half)}\n[… ${text.length - limit} characters left out …]\n${text.slice(-half)}`
}
