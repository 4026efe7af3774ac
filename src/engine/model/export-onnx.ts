import { resolve } from 'node:path'
import { writePartsAtomic } from '../../base/files/index.ts'
import {
  EngineError,
  fingerprintOfFolder,
  openCheckpoint,
  parameterCount,
  readCheckpointHeaders,
} from '../checkpoint/index.ts'
import { toOnnx } from '../embedded/onnx/emit.ts'
import { ProtobufWriter } from '../protobuf-writer.ts'
import { plainGraph } from './plain-graph.ts'

/** Usage notes, stored in the file's metadata and in a JSON file next to it. */
export interface OnnxNotes {
  inputs: { ids: string }
  outputs: { logprobs: string }
  runtime: string
  contextLength: number
  vocabularySize: number
  endTokens: number[]
  parameters: number
  /** Fingerprint of the source model. */
  fingerprint: string
}

/** Size limit of protocol buffers, and so of an ONNX file with embedded weights. */
const LONGEST_FILE = 2 ** 31 - 1

/**
 * Writes a model as one ONNX file for onnxruntime, including in a browser: token ids in, log-probabilities out. Weights are float32.
 * Some operators are onnxruntime's own, so other runtimes cannot run it.
 *
 * @example
 * import { exportOnnx } from 'chain-of-agents/engine'
 *
 * const { bytes, notes } = exportOnnx('models/mine', 'mine.onnx')
 * console.log(bytes, notes.contextLength)
 */
export function exportOnnx(folder: string, file: string): { file: string; bytes: number; notes: OnnxNotes } {
  const { shape } = readCheckpointHeaders(folder)
  const parameters = parameterCount(shape)
  const expected = 4 * (parameters + shape.contextLength * shape.headWidth)
  if (expected > LONGEST_FILE) {
    throw new EngineError(
      `the ONNX file would have ${(expected / 1e9).toFixed(1)} GB, but ONNX files are limited to 2 GB, because protocol buffers use 32-bit lengths`,
      { fix: 'Export a smaller model; engines for large models read the safetensors folder directly.' },
    )
  }
  const { weights } = openCheckpoint(folder)
  const notes: OnnxNotes = {
    inputs: { ids: `int64 [1, time], time from 1 to ${shape.contextLength}: token ids` },
    outputs: {
      logprobs: `float32 [1, time, ${shape.vocabularySize}]: row i has the log-probability of every token that could follow token i`,
    },
    runtime: 'onnxruntime, web or native; tested with 1.30',
    contextLength: shape.contextLength,
    vocabularySize: shape.vocabularySize,
    endTokens: shape.endTokens,
    parameters,
    fingerprint: fingerprintOfFolder(folder),
  }
  const parts = [toOnnx(plainGraph(shape, weights)), metadata(notes)]
  write(file, parts)
  write(`${file}.json`, [Buffer.from(`${JSON.stringify(notes, null, 2)}\n`)])
  return { file: resolve(file), bytes: parts.reduce((sum, { length }) => sum + length, 0), notes }
}

/** Additional fields of the model: concatenated protocol buffers are merged when read. */
function metadata(notes: OnnxNotes): Uint8Array {
  const writer = new ProtobufWriter()
  for (const [name, value] of Object.entries(notes)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    writer.message(14, (entry) => entry.text(1, `coa.${name}`).text(2, text))
  }
  return writer.finish()
}

function write(file: string, parts: readonly Uint8Array[]): void {
  try {
    writePartsAtomic(resolve(file), (add) => {
      for (const part of parts) add(part)
    })
  } catch (cause) {
    throw new EngineError(`cannot write ${file}: ${(cause as Error).message}`, {
      fix: 'Choose a file in an existing, writable folder with enough free space.',
      cause,
    })
  }
}
