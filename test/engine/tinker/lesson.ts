import { type Engine, normalized } from '../../../src/engine/index.ts'

const lines = ['a team of agents', 'becomes one model', 'step by step', 'and then again']

/** Trains on one line per step and returns the losses. */
export async function learn(
  engine: Engine,
  from: number,
  to: number,
  onStep: (step: number, loss: number) => void = () => undefined,
): Promise<number[]> {
  const losses: number[] = []
  for (let step = from; step < to; step++) {
    const tokens = [...Buffer.from(lines[step % lines.length]!)]
    const examples = normalized([{ tokens, weights: tokens.map(() => 1) }])
    const { loss } = await engine.forwardBackward(examples, { kind: 'cross-entropy' })
    await engine.optimStep({ learningRate: 3e-3, maxNorm: 1 })
    losses.push(loss)
    onStep(step, loss)
  }
  return losses
}
