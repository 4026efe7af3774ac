/** Chat and embedding models behind OpenAI-compatible endpoints. Nothing else imports the AI SDK. */
export type {
  ChatModel,
  Completion,
  CompletionPrompt,
  CompletionRequest,
  Embedder,
  Endpoint,
  RetryPolicy,
} from './contract.ts'
export { embedderFromSettings, modelFromSettings } from './from-settings.ts'
export { type ModelFromOptions, messagesOf, modelFrom } from './model-from.ts'
export { type ObservableModel, observableVersions, observeModel } from './observe-model.ts'
export { type EmbedderOptions, openEmbedder } from './open-embedder.ts'
export { openModel } from './open-model.ts'
export { promptFunction } from './prompt-function.ts'
export { readObject, schemaPrompt } from './structured.ts'
