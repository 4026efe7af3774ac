/**
 * Builds dist/ from src/ with plain tsc, from nothing, so that deleted sources leave no trace. `npm pack` and `npm publish`
 * run it (prepack), in a fresh clone too; their output is on stdout, so this speaks on stderr.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installMissing } from './install-missing.js'

installMissing('typescript')
rmSync('dist', { recursive: true, force: true })
const { status } = spawnSync(
  process.execPath,
  ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'],
  { stdio: ['ignore', 2, 2] },
)
if (status !== 0) process.exit(status ?? 1)
// tsc 6.0 leaves `import('./x.ts')` as it is in functions that have a `using`.
for (const name of readdirSync('dist', { recursive: true })) {
  if (!name.endsWith('.js')) continue
  const file = join('dist', name)
  const text = readFileSync(file, 'utf8')
  const mended = text.replaceAll(/\bimport\((['"])(\.{1,2}\/[^'"]+)\.ts\1\)/g, 'import($1$2.js$1)')
  if (mended !== text) writeFileSync(file, mended)
}
console.error('built dist/')
