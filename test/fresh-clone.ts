import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * A folder with exactly the files that a clone of the work tree would have: nothing that git ignores, so no dist/, no
 * models of one's own, no runs. Its dependencies are those of this checkout, or missing.
 */
export function freshClone({ dependencies }: { dependencies: boolean }): string {
  const folder = mkdtempSync(join(tmpdir(), 'coa-clone-'))
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  for (const path of listed.split('\0').filter((name) => name !== '' && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    cpSync(join(root, path), join(folder, path))
  }
  if (dependencies) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  return folder
}

export function removeClone(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}
