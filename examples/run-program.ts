/** Run model-written code in the sandbox. A program that fails, hangs or attacks is a result like any other. */
import assert from 'node:assert/strict'
import { openSandbox } from 'chain-of-agents'

const sandbox = await openSandbox({ driver: 'quickjs' })
try {
  const sum = await sandbox.run({ language: 'javascript', code: 'console.log(17 * 144 - 389)' })
  console.log(sum.stdout)
  assert.equal(sum.stdout.trim(), '2059')

  const endless = await sandbox.run({
    language: 'javascript',
    code: 'for (;;);',
    limits: { cpuMs: 200 },
  })
  assert.equal(endless.timedOut, true)
} finally {
  await sandbox.close()
}
