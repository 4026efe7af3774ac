/**
 * The engine contract and its drivers, including one that trains and samples language models inside Node.
 */
export {
  type AdapterCheckpoint,
  type CheckpointHeaders,
  CheckpointManifest,
  checkReplaceable,
  configFromShape,
  type ElementType,
  EngineError,
  fingerprintOfFolder,
  isModelFolder,
  linkCheckpoint,
  type ModelFamily,
  type ModelShape,
  type OpenCheckpoint,
  openCheckpoint,
  parameterCount,
  randomWeights,
  readCheckpointHeaders,
  readCheckpointManifest,
  readTokenizerFiles,
  removeCheckpoint,
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
  normalized,
  type OptimResult,
  type PassResult,
  type Sample,
  type SampleRequest,
  type TrainingExample,
} from './contract.ts'
export {
  type BuildName,
  type InstalledBuild,
  type InstallOptions,
  installBuild,
  neededBuild,
} from './embedded/builds/index.ts'
export type { EmbeddedOptions } from './embedded/embedded-core.ts'
export { openEmbedded } from './embedded/embedded-engine.ts'
export type { LoraSettings } from './embedded/llama/lora.ts'
export type { Device } from './embedded/runtime.ts'
export { describeRuntime, runtimeLabel } from './embedded/runtime-label.ts'
export type { GgufFileType, WritableType } from './gguf/index.ts'
export { type PullModelOptions, pullModel } from './hub/pull-model.ts'
export type { PulledModel } from './hub/pulled-model.ts'
export { type EngineSpeed, type MeasureOptions, measureEngine } from './measure-engine.ts'
export { type ConvertOptions, convertModel } from './model/convert.ts'
export { exportGguf, type GgufReport } from './model/export-gguf.ts'
export { exportOnnx, type OnnxNotes } from './model/export-onnx.ts'
export { exportPeft, type PeftReport } from './model/export-peft.ts'
export { type ImportOptions, type ImportReport, importGguf } from './model/import-gguf.ts'
export { inspectModel, type ModelReport } from './model/inspect.ts'
export { type MergeReport, mergeLora } from './model/merge-lora.ts'
export {
  type ModelSizes,
  modelPresets,
  type PresetName,
  type SizedShape,
  shapeOfSizes,
} from './model/model-sizes.ts'
export { byteTokenizerWithTags, type NewModelOptions, newModel } from './model/new-model.ts'
export { refuseToOverwrite } from './model/overwrite.ts'
export { type OpenAIOptions, openOpenAI } from './openai/openai-engine.ts'
export {
  checkEngine,
  type SelfCheckOptions,
  type SelfCheckReport,
  type SelfCheckResult,
} from './self-check.ts'
export type { LossContract, Reduction } from './tinker/loss-contract.ts'
export { openTinker } from './tinker/open-tinker.ts'
export type { TinkerEngine } from './tinker/tinker-engine.ts'
export type { TinkerOptions } from './tinker/tinker-options.ts'
export type { Exchange } from './tinker/wire.ts'
export {
  type RunningTrainer,
  type StartOptions as TrainerOptions,
  startTrainer,
  stopTrainer,
  type TrainerStatus,
  trainerStatus,
} from './trainer/managed-trainer.ts'
