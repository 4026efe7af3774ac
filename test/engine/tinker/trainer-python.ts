import { fileURLToPath } from 'node:url'
import { ensureEnvironment } from '../../../src/engine/trainer/environment.ts'
import { inspectPython } from '../../../src/engine/trainer/find-python.ts'

const folder = fileURLToPath(new URL('../../../node_modules/.cache/coa-trainer-python', import.meta.url))

/**
 * A Python that runs the trainer, made once by the code that `coa trainer start` uses. COA_TEST_TRAINER_PYTHON names
 * one. Where there is none to be had, the tests that need it are left out, and that is said.
 */
export async function trainerPython(): Promise<string | undefined> {
  const named = process.env['COA_TEST_TRAINER_PYTHON']
  try {
    if (named !== undefined && named !== '') return (await inspectPython(named)).python
    return (await ensureEnvironment({ folder, say: (line) => console.info(line) })).python
  } catch (cause) {
    console.warn(`SKIPPED: everything that needs the trainer: ${(cause as Error).message}`)
    return undefined
  }
}
