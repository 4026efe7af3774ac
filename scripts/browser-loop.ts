/**
 * Writes deploy/browser/loop.js, which is deploy/client/loop.ts without its types; a test fails if it is out of date.
 *
 *   node scripts/browser-loop.ts && npm run format
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'

const folder = new URL('../deploy/', import.meta.url)
const source = readFileSync(new URL('client/loop.ts', folder), 'utf8')
const code = stripTypeScriptTypes(source.replaceAll(/^(export )?interface [\s\S]*?^}\n/gm, ''))
writeFileSync(
  new URL('browser/loop.js', folder),
  code
    .replace(/^\/\*\* A text on a server.*\n/m, '')
    .replace(/^export type .*\n/m, '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trimStart(),
)
