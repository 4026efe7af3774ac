import { join } from 'node:path'
import { type ModelShape, randomWeights, saveCheckpoint } from '../../src/engine/index.ts'
import { byteTokenizerFiles } from '../../src/language/tokens/index.ts'

/** The small model of the engine contract tests. */
export const byteModelShape: ModelShape = {
  family: 'llama',
  vocabularySize: 259,
  width: 48,
  layers: 2,
  heads: 4,
  keyValueHeads: 2,
  headWidth: 12,
  feedForwardWidth: 96,
  contextLength: 160,
  normEpsilon: 1e-5,
  ropeBase: 10_000,
  ropeScaling: undefined,
  tiedHead: true,
  projectionBias: { queryKeyValue: false, output: false, feedForward: false },
  queryKeyNorm: false,
  // Large, so that an untrained model is not uniform and sampling can be tested.
  initializerRange: 0.15,
  endTokens: [256],
}

/** Writes it, with a byte tokenizer, to a folder of its own. */
export function writeByteModel(parent: string, name = 'model', shape = byteModelShape): string {
  const folder = join(parent, name)
  const { json, config } = byteTokenizerFiles()
  saveCheckpoint(folder, {
    shape,
    weights: randomWeights(shape, 7),
    stage: 'init',
    step: 0,
    createdAt: '2026-01-01T00:00:00Z',
    files: { 'tokenizer.json': JSON.stringify(json), 'tokenizer_config.json': JSON.stringify(config) },
  })
  return folder
}
