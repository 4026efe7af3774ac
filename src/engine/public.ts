/**
 * What trains and samples: engines behind one contract, model folders and checkpoints, tokenizers and loss masks. Needs nothing
 * from the method.
 */
import '../settings/require-node.ts'

// Engines

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
export type { EmbeddedOptions } from './embedded/embedded-core.ts'
export { openEmbedded } from './embedded/embedded-engine.ts'
export type { LoraSettings } from './embedded/llama/lora.ts'
export type { Device } from './embedded/runtime.ts'
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
export {
  type RunningTrainer,
  type StartOptions as TrainerOptions,
  startTrainer,
  stopTrainer,
} from './trainer/managed-trainer.ts'

// Model folders and checkpoints

export {
  type AdapterCheckpoint,
  type CheckpointManifest,
  type ElementType,
  type ModelFamily,
  type ModelShape,
  type OpenCheckpoint,
  openCheckpoint,
  verifyCheckpoint,
} from './checkpoint/index.ts'
export type { GgufFileType, WritableType } from './gguf/index.ts'
export type { FetchedFile } from './hub/fetch-file.ts'
export { type PullModelOptions, pullModel } from './hub/pull-model.ts'
export type { PulledModel } from './hub/pulled-model.ts'
export { type ConvertOptions, convertModel } from './model/convert.ts'
export { exportGguf, type GgufReport } from './model/export-gguf.ts'
export { exportOnnx, type OnnxNotes } from './model/export-onnx.ts'
export { exportPeft, type PeftReport } from './model/export-peft.ts'
export { type ImportOptions, type ImportReport, importGguf } from './model/import-gguf.ts'
export { inspectModel, type ModelReport } from './model/inspect.ts'
export { type MergeReport, mergeLora } from './model/merge-lora.ts'
export { type ModelSizes, type PresetName, type SizedShape, shapeOfSizes } from './model/model-sizes.ts'
export {
  byteTokenizerWithTags,
  type NewModelOptions,
  newModel,
  type ParsedTokenizer,
} from './model/new-model.ts'

// Tokenizers and masks

export {
  type DecodeOptions,
  type EncodedSpans,
  type EncodedStream,
  type EncodeOptions,
  type EncodeSpansOptions,
  type EncodeStreamOptions,
  type Encoding,
  encodePrompt,
  encodeSpans,
  encodeStream,
  openTokenizer,
  type RenderPromptOptions,
  type SpanText,
  type Tokenizer,
  type TokenizerDescription,
  type TokenMask,
} from '../language/tokens/index.ts'
export {
  saveTokenizer,
  type TokenizerFiles,
  type TrainedTokenizer,
  type TrainingSummary,
  type TrainTokenizerOptions,
  trainTokenizer,
} from '../language/tokens/train/index.ts'
