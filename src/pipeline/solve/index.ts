/** Questions to a model with live tools: in code, at the command line and behind the AI SDK. */
export {
  type ChainModel,
  type ChainModelOptions,
  type OpenedModel,
  openChainModel,
  pickerFor,
  type QuestionOptions,
} from './chain-model.ts'
export { modelSettings } from './model-settings.ts'
export {
  type ModelOptions,
  openModelFor,
  type SolveOptions,
  type Solving,
  solve,
  solveInto,
} from './solve.ts'
export { refuseSilence, type Solved } from './solved.ts'
