/**
 * The one contract to tensors, and the engine that runs inside Node: train and sample language models with npm alone.
 */
export {
  CheckpointManifest,
  configFromShape,
  EngineError,
  fingerprintOfFolder,
  type ModelShape,
  type OpenCheckpoint,
  openCheckpoint,
  parameterCount,
  randomWeights,
  readTokenizerFiles,
  saveCheckpoint,
  shapeFromConfig,
  verifyCheckpoint,
} from './checkpoint/index.ts'
export {
  type AdamSettings,
  type CheckpointNote,
  type Engine,
  type EngineDescription,
  type Loss,
  normalised,
  type OptimResult,
  type PassResult,
  type Sample,
  type SampleRequest,
  type TrainingExample,
} from './contract.ts'
export type { EmbeddedOptions } from './embedded/embedded-core.ts'
export { openEmbedded } from './embedded/embedded-engine.ts'
