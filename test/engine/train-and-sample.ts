/** A separate program: trains and samples on the given device and prints the results. */
import { openEmbedded } from '../../src/engine/index.ts'
import { byteModelShape } from './byte-model.ts'

const device = process.argv[2] as 'cpu' | 'webgpu'
try {
  const engine = await openEmbedded({ model: { shape: byteModelShape, seed: 7 }, device, threads: 1 })
  const examples = [30, 30, 100].map((length, row) => {
    const tokens = Array.from({ length }, (_, at) => (at * 7 + row) % 250)
    return { tokens, weights: tokens.map(() => 1 / 160) }
  })
  const losses: number[] = []
  const norms: number[] = []
  for (let step = 0; step < 3; step++) {
    losses.push((await engine.forwardBackward(examples, { kind: 'cross-entropy' })).loss)
    norms.push((await engine.optimStep({ learningRate: 1e-2, maxNorm: 1 })).gradientNorm)
  }
  const [sample] = await engine.sample({ prompt: [1, 2, 3], maxTokens: 12, seed: 1 })
  console.log(
    JSON.stringify({
      device: engine.describe().device,
      losses,
      norms,
      tokens: [...sample!.tokens],
      logprobs: [...sample!.modelLogprobs],
    }),
  )
  await engine.close()
} catch (cause) {
  const { name, message, fix } = cause as Error & { fix?: string }
  console.log(JSON.stringify({ name, message, fix }))
}
