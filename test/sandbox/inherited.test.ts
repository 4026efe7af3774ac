import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { subjects } from './drivers.ts'

const available = await subjects()

const program = `
import os
for name in os.listdir('/proc/self/fd'):
    if int(name) > 2:
        try: print(name, os.readlink('/proc/self/fd/' + name), os.listdir(int(name)))
        except OSError: pass
print('done')
`
const script = (source: string): string => `
import { openSandbox } from ${JSON.stringify(source)}
const sandbox = await openSandbox({ driver: 'bubblewrap' })
const { stdout } = await sandbox.run({ language: 'python', code: ${JSON.stringify(program)} })
process.stdout.write(stdout)
await sandbox.close()
`

test.skipIf(!available.some(({ name }) => name === 'bubblewrap'))(
  'a folder inherited from the parent is not open inside',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'coa-open-'))
    writeFileSync(join(folder, 'secret.txt'), 'secret')
    const descriptor = openSync(folder, 'r')
    try {
      const stdio = ['ignore', 'pipe', 'inherit', ...Array.from({ length: 37 }, () => 'ignore' as const)]
      const source = new URL('../../src/world/sandbox/index.ts', import.meta.url).href
      const child = spawnSync(process.execPath, ['--input-type=module', '-e', script(source)], {
        stdio: [...stdio, descriptor] as Array<'ignore' | number>,
        encoding: 'utf8',
      })
      expect(child.stdout).toMatch(/done\n$/)
      expect(child.stdout).not.toMatch(/secret/)
    } finally {
      closeSync(descriptor)
      rmSync(folder, { recursive: true })
    }
  },
)
