import type { Loss, TrainingExample } from '../../contract.ts'
import { policyNumbers, SHARPNESS } from '../llama/training-graph.ts'
import { UNSEEN } from '../llama/whole-attention.ts'
import type { Runtime, Value } from '../runtime.ts'
import { type Aim, temperatureOf } from './aim.ts'
import type { Batch } from './batches.ts'

type Column = (example: TrainingExample) => ArrayLike<number> | undefined

/** The examples of a batch as a graph takes them: columns of tokens, each input beside its target. */
export class BatchColumns {
  readonly #runtime: Runtime

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  of(batch: Batch, examples: readonly TrainingExample[], aim: Aim): Map<string, Value> {
    const { rows, time } = batch
    const size = rows * time
    const numbers = (of: Column): Value => {
      const column = new Float32Array(size)
      fill(batch, examples, of, 1, (at, value) => {
        column[at] = value
      })
      return this.#runtime.value(column, [size])
    }
    const ids = (shift: number): Value => {
      const column = new BigInt64Array(size)
      fill(
        batch,
        examples,
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
      ['places', this.#runtime.value(placesOf(batch, examples), [rows, time])],
      [SHARPNESS, this.#runtime.value(Float32Array.of(1 / temperatureOf(aim)), [1])],
    ])
    if (batch.packed) columns.set('bias', this.#runtime.value(biasOf(batch, examples), [rows, 1, time, time]))
    if (aim.kind === 'none') return columns
    columns.set(
      'weights',
      numbers(({ weights }) => weights),
    )
    if (aim.kind === 'policy') this.#addPolicy(columns, aim, numbers)
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
    // Without a cap there is no such weight: both sides are then the same.
    columns.set('sampled_logprobs', loss.importanceCap === undefined ? old : numbers(sampled))
    const settings = [loss.lowestRatio, loss.highestRatio, loss.dualClip ?? 1e20, loss.importanceCap ?? 1e20]
    for (const [index, name] of policyNumbers.entries())
      columns.set(name, this.#runtime.value(Float32Array.of(settings[index]!), [1]))
  }
}

/** Goes through a column of each example from `shift` on, one entry less than it has tokens. */
function fill(
  { time, placed }: Batch,
  examples: readonly TrainingExample[],
  of: Column,
  shift: number,
  write: (at: number, value: number) => void,
): void {
  for (const { member, row, offset } of placed) {
    const source = of(examples[member]!)
    if (source === undefined) continue
    const start = row * time + offset
    for (let at = 0; at < source.length - 1; at++) write(start + at, source[at + shift]!)
  }
}

/** Each example begins at place 0, wherever it stands in its row. */
function placesOf({ rows, time, placed }: Batch, examples: readonly TrainingExample[]): BigInt64Array {
  const places = new BigInt64Array(rows * time)
  for (const { member, row, offset } of placed) {
    const start = row * time + offset
    for (let at = 0; at < examples[member]!.tokens.length - 1; at++) places[start + at] = BigInt(at)
  }
  return places
}

/** A token sees those before it in its own example and nothing of the others in its row. */
function biasOf({ rows, time, placed }: Batch, examples: readonly TrainingExample[]): Float32Array {
  const bias = new Float32Array(rows * time * time).fill(UNSEEN)
  for (const { member, row, offset } of placed) {
    for (let at = 0; at < examples[member]!.tokens.length - 1; at++) {
      const line = (row * time + offset + at) * time
      bias.fill(0, line + offset, line + offset + at + 1)
    }
  }
  return bias
}
