import { readFileSync } from 'node:fs'

/** The package's version; package.json is two folders above both src/cli and dist/cli. */
export const version: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version
