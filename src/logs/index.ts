/** Logs of other agent systems: formats, one file each, and how a logged run becomes a trajectory. */
export { agentNameIn } from './agent-names.ts'
export { errorOf, type ModelAnswer, type ModelApi, type ModelRequest, modelApis } from './apis/index.ts'
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
export { asJson, asText, at, isObject, listOf, textOf } from './json.ts'
export { type LogMap, readLogMap } from './map/log-map.ts'
export { mappedFormat } from './map/mapped-format.ts'
export { itemsOfCalls, type ModelCall } from './model-calls.ts'
export { readRecords } from './read-records.ts'
export { chatTags } from './text/dialects.ts'
export { questionOf, taskIdOf, toTrajectory } from './to-trajectory.ts'
export { isCode, toolName } from './tool-names.ts'
export { general } from './unread.ts'
