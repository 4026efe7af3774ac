import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Launched, launchTrainer } from '../../../src/engine/trainer/trainer-process.ts'
import { writeByteModel } from '../byte-model.ts'

export interface TestTrainer extends Launched {
  /** Contains a byte model in `model`. */
  folder: string
  model: string
  stop: () => void
}

/** A separate trainer on the CPU, with the small model of the contract tests. */
export async function startTestTrainer(
  python: string,
  options: { key?: string; more?: string[]; data?: string } = {},
): Promise<TestTrainer> {
  const folder = mkdtempSync(join(tmpdir(), 'coa-trainer-'))
  const model = writeByteModel(folder)
  const launched = await launchTrainer({
    python,
    models: [model],
    data: options.data ?? join(folder, 'data'),
    log: join(folder, 'trainer.log'),
    device: 'cpu',
    ...(options.key === undefined ? {} : { key: options.key }),
    ...(options.more === undefined ? {} : { more: options.more }),
  })
  return {
    ...launched,
    folder,
    model,
    stop: () => {
      try {
        process.kill(launched.pid, 'SIGKILL')
      } catch {}
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
