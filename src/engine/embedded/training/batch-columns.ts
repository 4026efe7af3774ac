import type { Loss, TrainingExample } from '../../contract.ts'
import { MASKED } from '../llama/causal-attention.ts'
import { INVERSE_TEMPERATURE, policyNumbers } from '../llama/training-graph.ts'
import type { Runtime, Value } from '../runtime.ts'
import type { Batch } from './batches.ts'
import { type PassLoss, temperatureOf } from './pass-loss.ts'

type Column = (example: TrainingExample) => ArrayLike<number> | undefined

/** The inputs of a training graph: the examples of a batch as columns, with inputs and targets aligned. */
export class BatchColumns {
  readonly #runtime: Runtime

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  of(batch: Batch, passLoss: PassLoss): Map<string, Value> {
    const { rows, time } = batch
    const size = rows * time
    const numbers = (of: Column): Value => {
      const column = new Float32Array(size)
      fill(batch, of, 1, (at, value) => {
        column[at] = value
      })
      return this.#runtime.value(column, [size])
    }
    const ids = (shift: number): Value => {
      const column = new BigInt64Array(size)
      fill(
        batch,
        ({ tokens }) => tokens,
        shift,
        (at, value) => {
          column[at] = BigInt(value)
        },
      )
      return this.#runtime.value(column, [size])
    }
    const columns = new Map<string, Value>([
      ['ids', ids(0)],
      ['targets', ids(1)],
      ['positions', this.#runtime.value(positionsOf(batch), [rows, time])],
      [INVERSE_TEMPERATURE, this.#runtime.value(Float32Array.of(1 / temperatureOf(passLoss)), [1])],
    ])
    if (batch.packed) columns.set('bias', this.#runtime.value(biasOf(batch), [rows, 1, time, time]))
    if (passLoss.kind === 'none') return columns
    columns.set(
      'weights',
      numbers(({ weights }) => weights),
    )
    if (passLoss.kind === 'policy') this.#addPolicy(columns, passLoss, numbers)
    return columns
  }

  #addPolicy(
    columns: Map<string, Value>,
    loss: Extract<Loss, { kind: 'policy' }>,
    numbers: (of: Column) => Value,
  ): void {
    const sampled: Column = ({ sampledLogprobs }) => sampledLogprobs
    const old = numbers((example) => example.oldLogprobs ?? sampled(example))
    columns.set(
      'advantages',
      numbers(({ advantages }) => advantages),
    )
    columns.set('old_logprobs', old)
    // Without a cap there is no importance weight: old and sampled log-probabilities are then the same.
    columns.set('sampled_logprobs', loss.importanceCap === undefined ? old : numbers(sampled))
    const settings = [loss.lowestRatio, loss.highestRatio, loss.dualClip ?? 1e20, loss.importanceCap ?? 1e20]
    for (const [index, name] of policyNumbers.entries())
      columns.set(name, this.#runtime.value(Float32Array.of(settings[index]!), [1]))
  }
}

/** Iterates over a column of each example from `shift` on, one entry less than it has tokens. */
function fill(
  { time, placed }: Batch,
  of: Column,
  shift: number,
  write: (at: number, value: number) => void,
): void {
  for (const { example, row, offset } of placed) {
    const source = of(example)
    if (source === undefined) continue
    const start = row * time + offset
    for (let at = 0; at < source.length - 1; at++) write(start + at, source[at + shift]!)
  }
}

/** Positions restart at 0 for each example, wherever it is in its row. */
function positionsOf({ rows, time, placed }: Batch): BigInt64Array {
  const positions = new BigInt64Array(rows * time)
  for (const { example, row, offset } of placed) {
    const start = row * time + offset
    for (let at = 0; at < example.tokens.length - 1; at++) positions[start + at] = BigInt(at)
  }
  return positions
}

/** A token attends to earlier tokens of its own example only. */
function biasOf({ rows, time, placed }: Batch): Float32Array {
  const bias = new Float32Array(rows * time * time).fill(MASKED)
  for (const { example, row, offset } of placed) {
    for (let at = 0; at < example.tokens.length - 1; at++) {
      const line = (row * time + offset + at) * time
      bias.fill(0, line + offset, line + offset + at + 1)
    }
  }
  return bias
}
