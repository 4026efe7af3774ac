import type { TrainingExample } from '../contract.ts'
import { type ColumnMessage, encodeColumns, floatsIn } from './columns.ts'

/** An example of a pass, in our format: entry i of an input belongs to predicting token i. */
export interface PassExample {
  tokens: ArrayLike<number>
  /** Inputs of the loss besides the targets. All examples of a pass have the same ones. */
  inputs: Record<string, ArrayLike<number> | undefined>
}

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
 * In the protocol, position i has token i as input and token i + 1 as target, so columns shift down by one and the unused
 * first entry is dropped.
 */
export function datumOf({ tokens, inputs: given }: PassExample): Datum {
  const last = tokens.length - 1
  const all = Array.from(tokens)
  const inputs: Record<string, TensorData> = { target_tokens: integers(all.slice(1)) }
  for (const [name, column] of Object.entries(given))
    if (column !== undefined) inputs[name] = floats(Array.from(column).slice(1))
  return { model_input: inputOf(all.slice(0, last)), loss_fn_inputs: inputs }
}

/** The same for our trainer: one column for all examples, unshifted. */
export function columnsOf(header: object, data: readonly PassExample[]): Uint8Array<ArrayBuffer> {
  const names = Object.keys(data[0]?.inputs ?? {}).filter((name) => data[0]!.inputs[name] !== undefined)
  const floats = names.map((name) => {
    const parts = data.map(({ inputs }) => inputs[name]!)
    return [name, { type: 'float32' as const, parts }] as const
  })
  return encodeColumns(header, {
    lengths: { type: 'int32', parts: [data.map(({ tokens }) => tokens.length)] },
    tokens: { type: 'int32', parts: data.map(({ tokens }) => tokens) },
    ...Object.fromEntries(floats),
  })
}

/** False for an example without anything to predict, which is not sent. */
export function isTrainable({ tokens }: Pick<TrainingExample, 'tokens'>): boolean {
  return tokens.length >= 2
}

/** The log-probabilities of each example, as views into the message. */
export function columnLogprobs(message: ColumnMessage, data: readonly PassExample[]): Float32Array[] {
  const all = floatsIn(message, 'logprobs')
  let end = 0
  return data.map(({ tokens: { length } }) => {
    end += length
    return all.subarray(end - length, end)
  })
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
