import { fileURLToPath } from 'node:url'
import { ensureEnvironment } from '../../../src/engine/trainer/environment.ts'
import { inspectPython } from '../../../src/engine/trainer/find-python.ts'

const folder = fileURLToPath(new URL('../../../node_modules/.cache/coa-trainer-python', import.meta.url))

/**
 * A Python that runs the trainer, created once by the code of `coa trainer start`. COA_TEST_TRAINER_PYTHON names another.
 * If there is none, the tests that need it are skipped with a warning.
 */
export async function trainerPython(): Promise<string | undefined> {
  const named = process.env['COA_TEST_TRAINER_PYTHON']
  try {
    if (named !== undefined && named !== '') return (await inspectPython(named)).python
    return (await ensureEnvironment({ folder, onStatus: (line) => console.info(line) })).python
  } catch (cause) {
    console.warn(`SKIPPED: everything that needs the trainer: ${(cause as Error).message}`)
    return undefined
  }
}
