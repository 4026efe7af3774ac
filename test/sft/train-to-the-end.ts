import { run as sft } from '../../src/stages/sft/index.ts'
import { configOf, openStudent, runIn, sums } from './support.ts'

/** Run by kill.test.ts as a separate process: trains the model of a folder, or resumes, and prints each step. */
const [folder, byTime] = process.argv.slice(2) as [string, string?]
const student = await openStudent(`${folder}/model`)
using run = runIn(folder)
const config = configOf({
  epochs: 12,
  batch_tokens: 500,
  learning_rate: 5e-3,
  context: { '0': 110, '0.5': 256 },
  react_share: 0.2,
  eval_share: 0.2,
  eval_every: 4,
  // Either by steps alone or by time alone, where one more step takes long enough.
  ...(byTime === undefined ? { save_every: 7, save_seconds: 1e6 } : { save_every: 1e6, save_seconds: 0.001 }),
})
await sft(config, {
  run,
  student,
  signal: new AbortController().signal,
  observe: ({ done }) => process.stdout.write(`${done}\n`),
  data: () => sums(40),
  react: () =>
    sums(9).map(({ sequence, weight }) => ({
      sequence: { ...sequence, id: `react ${sequence.id}` },
      weight,
    })),
  evaluate: async (step) => ({ accuracy: (step % 3) / 3, wellFormed: 1, count: 3 }),
})
await student.engine.close()
