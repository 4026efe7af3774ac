/** Run by interrupt.test.ts as a separate process: work that ignores the signal. */
import { setTimeout } from 'node:timers/promises'
import { interruptible } from '../../src/cli/interrupt.ts'

await interruptible(() => {
  // Printed once the handlers are installed: the test sends its first signal when it reads this.
  process.stdout.write('working\n')
  return setTimeout(120_000)
})
