import { readFileSync } from 'node:fs'

/** The package's own version; the file lies two folders up from src/cli and from dist/cli alike. */
export const version: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version
