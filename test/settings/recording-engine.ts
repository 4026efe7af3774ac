import { basename } from 'node:path'
import { adoptFiles } from '../../src/engine/checkpoint/index.ts'
import type { Engine, TrainingExample } from '../../src/engine/index.ts'

const plain = ({ tokens, ...rest }: TrainingExample) => ({
  tokens: [...Array.from(tokens)],
  ...Object.fromEntries(
    Object.entries(rest).map(([name, values]) => [name, Array.from(values as ArrayLike<number>)]),
  ),
})

/** An engine that computes nothing and writes down what it is told to do. */
export function recordingEngine(contextLength = 256): { engine: Engine; calls: unknown[] } {
  const calls: unknown[] = []
  const passed = (examples: readonly TrainingExample[]) => ({
    loss: 1,
    weight: 1,
    logprobs: examples.map(({ tokens }) =>
      Float32Array.from({ length: tokens.length }, (_, at) => (at === 0 ? 0 : -0.5)),
    ),
  })
  const engine: Engine = {
    describe: () => ({
      driver: 'recording',
      device: 'none',
      contextLength,
      vocabularySize: 300,
      parameters: 1,
      trainedParameters: 1,
      lossIs: 'sum',
      missing: {},
    }),
    sample: () => Promise.reject(new Error('nothing is sampled')),
    async forward(examples, _signal, temperature) {
      calls.push(['forward', examples.map(plain), temperature])
      return passed(examples)
    },
    async forwardBackward(examples, loss) {
      calls.push(['train', loss, examples.map(plain)])
      return passed(examples)
    },
    async optimStep(adam) {
      calls.push(['step', adam])
      return { gradientNorm: 1, step: 1 }
    },
    async save(folder, note) {
      calls.push(['save', basename(folder), note.step])
      await adoptFiles(folder, { ...note, parameters: 0 }, async () => [])
    },
    async load(folder) {
      calls.push(['load', basename(folder)])
    },
    close: async () => {},
  }
  return { engine, calls }
}
