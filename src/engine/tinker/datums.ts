import type { TrainingExample } from '../contract.ts'

/** A flat tensor of the protocol. */
export interface TensorData {
  data: number[]
  dtype: 'int64' | 'float32'
  shape: number[]
}

export interface Datum {
  model_input: { chunks: { type: 'encoded_text'; tokens: number[] }[] }
  loss_fn_inputs: Record<string, TensorData>
}

export interface ModelInput {
  chunks: { type: 'encoded_text'; tokens: number[] }[]
}

/** The server's output for one datum. */
export interface DatumOutput {
  logprobs: { data: (number | null)[] }
  elementwise_loss?: { data: (number | null)[] }
}

export function inputOf(tokens: ArrayLike<number>): ModelInput {
  return { chunks: [{ type: 'encoded_text', tokens: Array.from(tokens) }] }
}

/**
 * In our format, entry i belongs to predicting token i. In the protocol, position i has token i as input and token i + 1
 * as target, so columns shift down by one and the unused first entry is dropped.
 */
export function datumOf(
  tokens: ArrayLike<number>,
  columns: Record<string, ArrayLike<number> | undefined>,
): Datum {
  const last = tokens.length - 1
  const all = Array.from(tokens)
  const inputs: Record<string, TensorData> = { target_tokens: integers(all.slice(1)) }
  for (const [name, column] of Object.entries(columns))
    if (column !== undefined) inputs[name] = floats(Array.from(column).slice(1))
  return { model_input: inputOf(all.slice(0, last)), loss_fn_inputs: inputs }
}

/** False for an example without anything to predict, which is not sent. */
export function isTrainable({ tokens }: Pick<TrainingExample, 'tokens'>): boolean {
  return tokens.length >= 2
}

/** Log-probabilities in our format: one entry per token, the first 0. A non-finite number is sent as null. */
export function logprobsOf(output: DatumOutput, length: number): Float32Array {
  const logprobs = new Float32Array(length)
  for (let at = 1; at < length; at++) logprobs[at] = output.logprobs.data[at - 1] ?? Number.NaN
  return logprobs
}

function integers(data: number[]): TensorData {
  return { data, dtype: 'int64', shape: [data.length] }
}

function floats(data: number[]): TensorData {
  return { data: data.map(brief), dtype: 'float32', shape: [data.length] }
}

/** Nine digits represent any float32 exactly; the seventeen of a double would only waste space. */
function brief(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(9))
}
