import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'

it('the example in docs/75-engine.md runs and learns', () => {
  const page = readFileSync(new URL('../../../docs/75-engine.md', import.meta.url), 'utf8')
  const program = /```ts\n([\s\S]*?)```/.exec(page)![1]!
  const folder = mkdtempSync(join(tmpdir(), 'coa-page-'))
  try {
    const library = new URL('../../../src/engine/public.ts', import.meta.url).href
    writeFileSync(join(folder, 'example.ts'), program.replace("'chain-of-agents/engine'", `'${library}'`))
    const environment = { ...process.env, TMPDIR: folder }
    const output = execFileSync(process.execPath, [join(folder, 'example.ts')], {
      encoding: 'utf8',
      env: environment,
    })
    expect(output).toContain('ree four five')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
