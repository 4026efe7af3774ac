/**
 * Builds dist/ from src/ with plain tsc, and dist/studio/page from studio/ with Vite, from scratch, so that deleted sources leave no trace. `npm pack` and `npm
 * publish` run it (prepack), also in a fresh clone; their output goes to stdout, so this writes to stderr.
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
// tsc 6.0 does not rewrite `import('./x.ts')` in functions that contain a `using`.
for (const name of readdirSync('dist', { recursive: true })) {
  if (!name.endsWith('.js')) continue
  const file = join('dist', name)
  const text = readFileSync(file, 'utf8')
  const fixed = text.replaceAll(/\bimport\((['"])(\.{1,2}\/[^'"]+)\.ts\1\)/g, 'import($1$2.js$1)')
  if (fixed !== text) writeFileSync(file, fixed)
}
const page = spawnSync(
  process.execPath,
  ['node_modules/vite/bin/vite.js', 'build', '--config', 'studio/vite.config.ts', '--logLevel', 'warn'],
  { stdio: ['ignore', 2, 2] },
)
if (page.status !== 0) process.exit(page.status ?? 1)
console.error('built dist/')
