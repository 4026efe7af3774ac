export { type TeamConfig, teamOf } from './configured-team.ts'
export type {
  Activation,
  AgentSpec,
  AskOptions,
  Memory,
  Reply,
  TeamRun,
  ToolFormat,
  Topology,
  TopologySettings,
  Turn,
} from './contract.ts'
export { carefulDials, erringDials } from './dials.ts'
export { modelMinds } from './model-mind.ts'
export { recordAiSdk } from './record-ai-sdk.ts'
export { Recorder, recordRun } from './recorder.ts'
export { assertTeachable, run } from './run.ts'
export { scriptedMinds } from './scripted-mind.ts'
export { type Surroundings, solveAsTeam, type Team } from './solve-as-team.ts'
export { teach } from './stage.ts'
export { topologies } from './topologies/index.ts'
