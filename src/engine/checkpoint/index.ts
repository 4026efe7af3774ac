/** Models on disk in the Hugging Face layout, validated when read and written atomically. */
export { type AdapterCheckpoint, adapterOf, BASE_FINGERPRINT, isModelFolder } from './adapter-checkpoint.ts'
export { adoptFiles } from './adopt-files.ts'
export {
  type CheckpointHeaders,
  existingFolder,
  fingerprintOfFolder,
  type OpenCheckpoint,
  openCheckpoint,
  readCheckpointHeaders,
  readCheckpointManifest,
  verifyCheckpoint,
} from './checkpoint.ts'
export { type CheckpointFile, CheckpointManifest, describeFile } from './checkpoint-manifest.ts'
export type { ElementType } from './element-types.ts'
export { EngineError } from './engine-error.ts'
export { linkCheckpoint } from './link-checkpoint.ts'
export { configFromShape, shapeFromConfig } from './model-config.ts'
export { checkShape, type ModelFamily, type ModelShape } from './model-shape.ts'
export {
  OPTIMIZER_FILE,
  type OptimizerState,
  readOptimizerState,
  withMasterWeights,
} from './optimizer-state.ts'
export { ADAPTER_CONFIG, ADAPTER_WEIGHTS, readPeftAdapter } from './peft-adapter.ts'
export { randomStream } from './random-stream.ts'
export { randomWeights } from './random-weights.ts'
export { checkReplaceable, currentFolder, removeCheckpoint } from './replace-folder.ts'
export { inverseFrequencies, ropeScale } from './rope.ts'
export { readHeader } from './safetensors-read.ts'
export { saveAdapter } from './save-adapter.ts'
export { type CheckpointContents, saveCheckpoint } from './save-checkpoint.ts'
export {
  nonFiniteFindings,
  type StoredTensor,
  type StoredTensors,
  type TensorsToSave,
} from './stored-tensor.ts'
export { readTokenizerFiles } from './tokenizer-files.ts'
export { verifyIfSavedByCoa } from './verify-files.ts'
export { EMBEDDING, HEAD, type Parameter, parameterCount, parametersOf } from './weight-names.ts'
