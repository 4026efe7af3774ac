/**
 * Writes what follows from the public exports: a reference page for each entry point in docs/reference, and the list of all
 * names in test/repo/public-surface.txt. A test fails where they are out of date.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { root } from './surface/entry-points.ts'
import { generatedFiles } from './surface/generated-files.ts'
import { readSurface } from './surface/read-surface.ts'

for (const [path, text] of generatedFiles(readSurface())) {
  mkdirSync(dirname(root + path), { recursive: true })
  writeFileSync(root + path, text)
  console.log(path)
}
