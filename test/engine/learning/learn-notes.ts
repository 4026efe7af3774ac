import { type Engine, type ModelShape, normalized, type TrainingExample } from '../../../src/engine/index.ts'
import type { Tokenizer } from '../../../src/language/tokens/index.ts'
import { judge, type Note, notes } from './notes.ts'

/** A model with a million parameters. The initializer range is larger than usual, so that attention is learned sooner. */
export const noteShape = (vocabularySize: number): ModelShape => ({
  family: 'llama',
  vocabularySize,
  width: 128,
  layers: 5,
  heads: 4,
  keyValueHeads: 2,
  headWidth: 32,
  feedForwardWidth: 352,
  contextLength: 256,
  normEpsilon: 1e-5,
  ropeBase: 10_000,
  ropeScaling: undefined,
  tiedHead: true,
  projectionBias: { queryKeyValue: false, output: false, feedForward: false },
  queryKeyNorm: false,
  initializerRange: 0.05,
  endTokens: [],
})

export interface LearnOptions {
  steps: number
  rows: number
  learningRate: number
  /** Maximum number of lines per note. */
  longest: number
  onStep?: (step: number, loss: number) => void | Promise<void>
}

type NoteTokenizer = Tokenizer & { endToken: number }

/** Trains on new texts, short ones first. Only the copy has weight. */
export async function learnNotes(
  engine: Engine,
  tokenizer: NoteTokenizer,
  { steps, rows, learningRate, longest, onStep }: LearnOptions,
): Promise<{ losses: number[]; tokens: number }> {
  const next = notes('to learn from', 'seen')
  const losses: number[] = []
  let tokens = 0
  for (let step = 0; step < steps; step++) {
    const examples = Array.from({ length: rows }, () =>
      exampleOf(step < 0.15 * steps ? next(1, longest / 2) : next(longest / 2, longest), tokenizer),
    )
    const { loss } = await engine.forwardBackward(normalized(examples), { kind: 'cross-entropy' })
    const rate = learningRate * Math.min(1, (step + 1) / 30) * Math.max(0.05, 1 - step / steps)
    await engine.optimStep({ learningRate: rate, weightDecay: 0.1, beta2: 0.98, maxNorm: 1 })
    losses.push(loss)
    for (const example of examples) tokens += example.tokens.length
    await onStep?.(step, loss)
  }
  return { losses, tokens }
}

export function exampleOf({ note, copy }: Note, tokenizer: NoteTokenizer): TrainingExample {
  const known = tokenizer.encodeIds(note)
  const learned = tokenizer.encodeContinuation(copy).ids
  return {
    tokens: [...known, ...learned, tokenizer.endToken],
    weights: [...Array(known.length).fill(0), ...Array(learned.length + 1).fill(1)],
  }
}

export interface Copying {
  texts: number
  wellFormed: number
  /** Exact copies, to the last letter and digit. */
  exact: number
  lines: number
  right: number
}

/** Lets the model copy notes with unseen names and numbers. */
export async function testCopying(
  engine: Engine,
  tokenizer: NoteTokenizer,
  texts: number,
  longest: number,
): Promise<Copying> {
  const next = notes('to be copied', 'unseen')
  const result: Copying = { texts, wellFormed: 0, exact: 0, lines: 0, right: 0 }
  await Promise.all(
    Array.from({ length: texts }, async () => {
      const { note, copy } = next(longest / 2, longest)
      const [sample] = await engine.sample({
        prompt: tokenizer.encodeIds(note),
        maxTokens: 60,
        temperature: 0,
        stopTokens: [tokenizer.endToken],
      })
      const ended = sample!.tokens.at(-1) === tokenizer.endToken
      const written = tokenizer.decode(ended ? sample!.tokens.slice(0, -1) : sample!.tokens)
      const { wellFormed, lines, right } = judge(note, written)
      result.lines += lines
      result.right += right
      if (ended && wellFormed) result.wellFormed++
      if (ended && written === copy) result.exact++
    }),
  )
  return result
}
