/** Questions to a model with live tools: in code, at the command line and behind the AI SDK. */
export { openChainModel, pickerFor } from './chain-model.ts'
export { modelSettings } from './model-settings.ts'
export { refuseSilence, type Solved } from './solved.ts'
