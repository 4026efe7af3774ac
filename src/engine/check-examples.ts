import { EngineError } from './checkpoint/index.ts'
import type { Loss, TrainingExample } from './contract.ts'

/** Rejects invalid examples before anything is computed. The error names the first one and its problem. */
export function checkExamples(
  examples: readonly TrainingExample[],
  loss: { kind: Loss['kind'] | 'none' },
  limits: { contextLength: number; vocabularySize: number },
): void {
  for (const [index, example] of examples.entries()) {
    const problem = problemOf(example, loss, limits)
    if (problem === undefined) continue
    throw new EngineError(`Example ${index} is invalid: ${problem}.`, {
      fix: 'Each example needs tokens from the vocabulary, and one finite number per token in every other field.',
      details: { index },
    })
  }
}

function problemOf(
  example: TrainingExample,
  loss: { kind: Loss['kind'] | 'none' },
  { contextLength, vocabularySize }: { contextLength: number; vocabularySize: number },
): string | undefined {
  const { tokens } = example
  // The last token is only a target, so an example may be one token longer than the context.
  if (tokens.length > contextLength + 1)
    return `it has ${tokens.length} tokens, but the model's context is ${contextLength}`
  for (let at = 0; at < tokens.length; at++) {
    const id = tokens[at]!
    if (!(Number.isInteger(id) && id >= 0 && id < vocabularySize))
      return `token ${at} is ${id}, but the vocabulary size is ${vocabularySize}`
  }
  const columns: [string, ArrayLike<number> | undefined, boolean][] = [['weights', example.weights, true]]
  if (loss.kind === 'policy') {
    columns.push(
      ['advantages', example.advantages, true],
      ['sampledLogprobs', example.sampledLogprobs, true],
      ['oldLogprobs', example.oldLogprobs, false],
    )
  }
  for (const [name, column, needed] of columns) {
    if (column === undefined) {
      if (needed) return `it has no ${name}`
      continue
    }
    if (column.length !== tokens.length) return `it has ${tokens.length} tokens but ${column.length} ${name}`
    for (let at = 0; at < column.length; at++)
      if (!Number.isFinite(column[at])) return `${name} ${at} is ${column[at]}`
  }
  return undefined
}
