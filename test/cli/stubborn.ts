/** Run by interrupt.test.ts as a separate process: work that ignores the signal. */
import { setTimeout } from 'node:timers/promises'
import { interruptible } from '../../src/cli/interrupt.ts'

process.stdout.write('working\n')
await interruptible(() => setTimeout(120_000))
