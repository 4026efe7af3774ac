import { randomWeights } from '../../../src/engine/checkpoint/random-weights.ts'
import { saveCheckpoint } from '../../../src/engine/checkpoint/save-checkpoint.ts'
import { tinyLlama } from './tiny-models.ts'

/** Run by kill.test.ts as a separate process: saves checkpoints to the same folder until it is killed. */
const folder = process.argv[2]!
for (let step = Number(process.argv[3]); ; step++) {
  saveCheckpoint(folder, {
    shape: tinyLlama,
    weights: randomWeights(tinyLlama, step),
    maxShardBytes: 4000,
    stage: 'rl',
    step,
    createdAt: '2026-01-02T03:04:05.000Z',
  })
  process.stdout.write(`${step}\n`)
}
