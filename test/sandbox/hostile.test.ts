import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxDriver } from '../../src/world/sandbox/index.ts'
import { leftAfterCleanup, leftBehind, run, subjects } from './drivers.ts'
import type { Bait } from './hostile-case.ts'
import { hostileJavascript } from './hostile-javascript.ts'
import { pythonAgainstPyodide } from './hostile-pyodide.ts'
import { pythonInExcess } from './hostile-python-excess.ts'
import { pythonThatReachesOut } from './hostile-python-reach.ts'

const hostilePython = [...pythonThatReachesOut, ...pythonInExcess, ...pythonAgainstPyodide]

const bait: Bait = {
  secret: `the secret of ${process.pid}`,
  folder: mkdtempSync(join(tmpdir(), 'coa-bait-')),
  file: '',
  port: 0,
}
let visitors = 0
let server: Server

beforeAll(async () => {
  bait.file = join(bait.folder, 'secret.txt')
  chmodSync(bait.folder, 0o777)
  writeFileSync(bait.file, bait.secret, { mode: 0o666 })
  process.env['COA_TEST_BAIT'] = bait.secret
  server = createServer((line) => {
    visitors++
    line.end('LEAK')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  bait.port = (server.address() as { port: number }).port
})
afterAll(() => {
  delete process.env['COA_TEST_BAIT']
  server.close()
  rmSync(bait.folder, { recursive: true, force: true })
})

for (const subject of await subjects()) {
  const { language, name } = subject
  describe(`hostile ${language} in ${name}`, () => {
    let driver: SandboxDriver
    beforeAll(async () => {
      driver = await subject.open(1)
    })
    afterAll(async () => {
      await driver.close()
      expect(await leftAfterCleanup()).toEqual([])
    })

    const cases = language === 'python' ? hostilePython : hostileJavascript
    for (const hostile of cases.filter(({ drivers }) => drivers?.includes(name) ?? true)) {
      test(hostile.name, async () => {
        const limits = { wallMs: 20_000, ...hostile.limits }
        const result = await run(driver, { language, code: hostile.code(bait), limits })
        const shown = JSON.stringify({
          ...result,
          stdout: result.stdout.slice(-1500),
          stderr: result.stderr.slice(-500),
        })
        expect(result.stdout, shown).not.toMatch(/LEAK/)
        expect(result.stdout + result.stderr).not.toContain(bait.secret)
        expect(hostile.expect?.(result) ?? true, shown).toBe(true)
        expect(visitors, 'reached the network').toBe(0)
        expect(readdirSync(bait.folder), 'wrote outside').toEqual(['secret.txt'])
        if (name === 'bubblewrap') expect(await leftAfterCleanup(), 'left a process').toEqual([])
        else expect(leftBehind().length, 'left a process').toBeLessThanOrEqual(1)
        const hello = language === 'python' ? 'print("hello")' : 'console.log("hello")'
        const after = await run(driver, { language, code: hello, limits: { wallMs: 20_000 } })
        expect([after.stdout, after.exit], 'not usable afterwards').toEqual(['hello\n', 0])
      })
    }
  })
}
