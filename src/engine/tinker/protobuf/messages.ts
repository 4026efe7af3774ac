import { ProtobufWriter } from '../../protobuf-writer.ts'
import type { Datum, DatumOutput, TensorData } from '../datums.ts'
import type { PassOutput } from '../protocol-types.ts'
import { bytesOf, fieldsOf, numberOf, textOf } from './reader.ts'
import { dtypes, float32Bytes, int32Bytes, int64Bytes, numbersIn } from './tensors.ts'

/** The protobuf encoding of the protocol (package tinker_public), as far as passes need it. */
export const PROTOBUF = 'application/x-protobuf'

export interface PassRequest {
  modelId: string
  seqId: number
  data: readonly Datum[]
  loss_fn: string
  loss_fn_config?: Record<string, number>
  forwardOnly: boolean
}

export function encodePass(request: PassRequest): Uint8Array {
  const writer = new ProtobufWriter().text(1, request.modelId).int(2, request.seqId)
  for (const datum of request.data) writer.message(3, (inner) => writeDatum(inner, datum))
  writer.text(4, request.loss_fn)
  for (const [key, value] of Object.entries(request.loss_fn_config ?? {}))
    writer.message(5, (entry) => entry.text(1, key).double(2, value))
  if (request.forwardOnly) writer.int(6, 1)
  return writer.finish()
}

function writeDatum(writer: ProtobufWriter, { model_input, loss_fn_inputs }: Datum): void {
  for (const { tokens } of model_input.chunks)
    writer.message(1, (chunk) => chunk.message(1, (text) => text.bytes(1, int32Bytes(tokens))))
  for (const [key, tensor] of Object.entries(loss_fn_inputs))
    writer.message(2, (entry) => entry.text(1, key).message(2, (inner) => writeTensor(inner, tensor)))
}

function writeTensor(writer: ProtobufWriter, { data, dtype, shape }: TensorData): void {
  writer.bytes(1, dtype === 'int64' ? int64Bytes(data) : float32Bytes(data)).int(3, dtypes[dtype])
  // A packed repeated field.
  writer.message(4, (inner) => {
    for (const size of shape) inner.varint(size)
  })
}

/** The inverse of `encodePass`, as a server reads it. */
export function decodePass(bytes: Uint8Array): PassRequest {
  const fields = fieldsOf(bytes)
  const config = (fields.get(5) ?? []).map((entry) => {
    const inner = fieldsOf(bytesOf(entry))
    return [textOf(inner.get(1)?.[0]), numberOf(inner.get(2)?.[0])] as const
  })
  return {
    modelId: textOf(fields.get(1)?.[0]),
    seqId: numberOf(fields.get(2)?.[0]),
    data: (fields.get(3) ?? []).map((datum) => readDatum(bytesOf(datum))),
    loss_fn: textOf(fields.get(4)?.[0]),
    ...(config.length === 0 ? {} : { loss_fn_config: Object.fromEntries(config) }),
    forwardOnly: numberOf(fields.get(6)?.[0]) !== 0,
  }
}

function readDatum(bytes: Uint8Array): Datum {
  const fields = fieldsOf(bytes)
  const chunks = (fields.get(1) ?? []).map((chunk) => {
    const text = fieldsOf(bytesOf(fieldsOf(bytesOf(chunk)).get(1)?.[0]))
    return { type: 'encoded_text' as const, tokens: numbersIn(bytesOf(text.get(1)?.[0]), dtypes.int32) }
  })
  const inputs = (fields.get(2) ?? []).map((entry) => {
    const inner = fieldsOf(bytesOf(entry))
    return [textOf(inner.get(1)?.[0]), readTensor(bytesOf(inner.get(2)?.[0]))] as const
  })
  return { model_input: { chunks }, loss_fn_inputs: Object.fromEntries(inputs) }
}

function readTensor(bytes: Uint8Array): TensorData {
  const fields = fieldsOf(bytes)
  const dtype = numberOf(fields.get(3)?.[0])
  const data = numbersIn(bytesOf(fields.get(1)?.[0]), dtype)
  return { data, dtype: dtype === dtypes.int64 ? 'int64' : 'float32', shape: [data.length] }
}

/** The result of a pass: each named tensor of all datums, concatenated, with offsets. */
export function readPassOutput(bytes: Uint8Array): PassOutput {
  const fields = fieldsOf(bytes)
  const outputs: Record<string, { data: number[] }>[] = []
  for (const record of fields.get(2) ?? []) {
    const inner = fieldsOf(bytesOf(record))
    const first = outputs.length
    for (let index = 0; index < numberOf(inner.get(3)?.[0]); index++) outputs.push({})
    for (const entry of inner.get(2) ?? []) {
      const named = fieldsOf(bytesOf(entry))
      for (const [index, data] of batched(bytesOf(named.get(2)?.[0])).entries())
        outputs[first + index]![textOf(named.get(1)?.[0])] = { data }
    }
  }
  const metrics = (fields.get(3) ?? []).map((entry) => {
    const inner = fieldsOf(bytesOf(entry))
    return [textOf(inner.get(1)?.[0]), numberOf(inner.get(2)?.[0])] as const
  })
  return { loss_fn_outputs: outputs as unknown as DatumOutput[], metrics: Object.fromEntries(metrics) }
}

function batched(bytes: Uint8Array): number[][] {
  const fields = fieldsOf(bytes)
  const whole = bytesOf(fields.get(1)?.[0])
  // In bytes.
  const offsets = numbersIn(bytesOf(fields.get(2)?.[0]), dtypes.int64)
  return offsets
    .slice(1)
    .map((end, index) => numbersIn(whole.subarray(offsets[index], end), numberOf(fields.get(3)?.[0])))
}
