import { afterAll, beforeAll, describe } from 'vitest'
import { openTinker } from '../../../src/engine/index.ts'
import { engineContract } from '../contract.ts'
import { startTestTrainer, type TestTrainer } from './test-trainer.ts'
import { trainerPython } from './trainer-python.ts'

const python = await trainerPython()

describe.skipIf(python === undefined)('the trainer on the CPU', () => {
  let trainer: TestTrainer
  beforeAll(async () => {
    trainer = await startTestTrainer(python!)
  })
  afterAll(() => trainer?.stop())

  engineContract('tinker', {
    open: () => openTinker({ url: trainer.url, tokenizer: trainer.model }),
    tolerance: 1e-4,
    bitEqual: false,
  })
})
