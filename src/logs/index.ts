/** Logs of other agent systems: formats, one file each, and how a logged run becomes a trajectory. */
export { agentNameIn } from './agent-names.ts'
export {
  errorOf,
  looksStreamed,
  type ModelAnswer,
  type ModelApi,
  type ModelRequest,
  modelApis,
  readStream,
} from './apis/index.ts'
export { type LoggedCall, runsOfCalls } from './call-runs.ts'
export { type ChatTurn, turnKey } from './chat-turn.ts'
export type {
  Json,
  LeftOut,
  LogFormat,
  LoggedItem,
  LoggedRun,
  LoggedTool,
  LogRecord,
  Unreadable,
} from './contract.ts'
export { formatNamed, recordsIn } from './detect.ts'
export { readTaggedChat } from './formats/chatml.ts'
export { logFormats } from './formats/index.ts'
export { asJson, asText, at, isObject, listOf, parsedOr, textOf } from './json.ts'
export { type LogMap, readLogMap } from './map/log-map.ts'
export { mappedFormat } from './map/mapped-format.ts'
export { proposeMap } from './map/propose-map.ts'
export { renamed } from './map/rename.ts'
export { readRecords } from './read-records.ts'
export { chatTags } from './text/dialects.ts'
export { questionOf, taskIdOf, toTrajectory } from './to-trajectory.ts'
export { isCode, toolName } from './tool-names.ts'
export { general, NOT_READ, unread } from './unread.ts'
