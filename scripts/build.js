/** Builds dist/ from src/ with plain tsc, from nothing, so that deleted sources leave no trace. */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

rmSync('dist', { recursive: true, force: true })
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
})
// tsc 6.0 leaves `import('./x.ts')` as it is in functions that have a `using`.
for (const file of globSync('dist/**/*.js')) {
  const text = readFileSync(file, 'utf8')
  const mended = text.replaceAll(/\bimport\((['"])(\.{1,2}\/[^'"]+)\.ts\1\)/g, 'import($1$2.js$1)')
  if (mended !== text) writeFileSync(file, mended)
}
console.log('built dist/')
