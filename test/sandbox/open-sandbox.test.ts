import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { openSandbox } from '../../src/world/sandbox/index.ts'
import { leftAfterCleanup, subjects } from './drivers.ts'

const available = await subjects()
const hasBubblewrap = available.filter(({ name }) => name === 'bubblewrap').length === 2

describe('openSandbox', () => {
  test('picks the strongest driver for each language and explains why', async () => {
    const sandbox = await openSandbox()
    const described = sandbox.describe()
    expect(described.map(({ language }) => language)).toEqual(['python', 'javascript'])
    for (const { driver, why } of described) {
      if (hasBubblewrap) expect([driver, /strongest available/.test(why)]).toEqual(['bubblewrap', true])
      else expect(why).toMatch(/bubblewrap is not available: ./)
    }
    const result = await sandbox.run({
      language: 'javascript',
      code: 'console.log(1 + 1)',
      limits: { wallMs: 20_000 },
    })
    expect([result.stdout, result.driver]).toEqual(['2\n', described[1]?.driver])
    await sandbox.close()
  })

  test('falls back where bubblewrap cannot run the interpreter', async () => {
    const sandbox = await openSandbox({ python: '/nowhere/python', node: '/nowhere/node' })
    expect(sandbox.describe()).toMatchObject([
      { language: 'python', driver: 'pyodide', why: expect.stringMatching(/bubblewrap is not available/) },
      {
        language: 'javascript',
        driver: 'quickjs',
        why: expect.stringMatching(/bubblewrap is not available/),
      },
    ])
    await sandbox.close()
    await expect(openSandbox({ driver: 'bubblewrap', python: '/nowhere/python' })).rejects.toThrow(
      expect.objectContaining({ name: 'SandboxError', boundary: 'sandbox' }),
    )
  })

  test('a driver reports a language that it does not run', async () => {
    const sandbox = await openSandbox({ driver: 'quickjs' })
    expect(sandbox.describe()[0]).toEqual({
      ...{ language: 'python', driver: undefined, why: 'quickjs runs JavaScript only' },
    })
    await expect(sandbox.run({ language: 'python', code: '' })).rejects.toThrow(/no sandbox for python/)
    await sandbox.close()
    await expect(sandbox.run({ language: 'javascript', code: '' })).rejects.toThrow(/closed/)
  })

  test('rejects invalid requests', async () => {
    const sandbox = await openSandbox({ driver: 'quickjs' })
    for (const path of ['../x', '/etc/passwd', 'a//b', './a', 'a/..', '', 'a\0b', 'main.py', 'main.js']) {
      const request = { language: 'javascript' as const, code: '', files: { [path]: 'x' } }
      await expect(sandbox.run(request), path).rejects.toThrow(
        expect.objectContaining({ name: 'UsageError' }),
      )
    }
    await expect(sandbox.run({ language: 'javascript', code: '', limits: { wallMs: -1 } })).rejects.toThrow(
      /wallMs/,
    )
    await sandbox.close()
  })

  test('closing kills running programs', async () => {
    const sandbox = await openSandbox({ driver: 'quickjs', concurrency: 1 })
    const request = { language: 'javascript' as const, code: 'for (;;);', limits: { wallMs: 60_000 } }
    const runs = Promise.allSettled([sandbox.run(request), sandbox.run(request)])
    await sleep(300)
    await sandbox.close()
    for (const run of await runs) {
      expect(run).toMatchObject({ status: 'rejected', reason: { name: 'SandboxError' } })
    }
    expect(await leftAfterCleanup()).toEqual([])
  })
})

const script = (driver: string, after: string): string => `
import { openSandbox } from ${JSON.stringify(new URL('../../src/world/sandbox/index.ts', import.meta.url).href)}
const sandbox = await openSandbox({ driver: '${driver}', concurrency: 1 })
const code = (text) => ({ language: '${driver === 'quickjs' ? 'javascript' : 'python'}', code: text, limits: { wallMs: 600_000 } })
${after}
`

function below(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter(Boolean)
    .map(Number)
  return [...children, ...children.flatMap(below)]
}

function alive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

const drivers = hasBubblewrap ? ['quickjs', 'pyodide', 'bubblewrap'] : ['quickjs', 'pyodide']
for (const driver of drivers) {
  const spin = driver === 'quickjs' ? 'for (;;);' : 'while True: pass'

  test.skipIf(process.platform !== 'linux')(`${driver}: programs die when the parent is killed`, async () => {
    const running = `
setTimeout(() => console.log('running'), ${driver === 'bubblewrap' ? 1_000 : 100})
await sandbox.run(code(${JSON.stringify(spin)}))`
    const afterFirstRun = `await sandbox.run(code(''))\n${running}`
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script(driver, afterFirstRun)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(parent.stdout, 'data')
    const family = below(parent.pid!)
    expect(family.length).toBeGreaterThan(0)
    parent.kill('SIGKILL')
    await once(parent, 'close')
    for (let attempt = 0; attempt < 100 && family.some(alive); attempt++) await sleep(100)
    expect(family.filter(alive)).toEqual([])
  })

  test(`${driver}: an idle sandbox does not keep a process alive`, async () => {
    const parent = spawn(
      process.execPath,
      ['--input-type=module', '-e', script(driver, `await sandbox.run(code(''))\nconsole.log('over')`)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    let output = ''
    parent.stdout.on('data', (chunk) => {
      output += chunk
    })
    const [code] = await once(parent, 'close')
    expect([code, output]).toEqual([0, 'over\n'])
  })
}
