/** Tells the voice of a team from that of a single agent: rewrites what teammates wrote, and finds what is left of it. */
export { codeRanges } from './code-ranges.ts'
export { TeamTalk } from './mentions.ts'
export { agentNames } from './names.ts'
export type { VoiceOptions } from './own-rules.ts'
export { addExamples } from './rewrite.ts'
export { builtinRules } from './rules.ts'
export { resemblance, type ToolLike, toolLikeTexts } from './tool-output.ts'
export { type Voice, Voices } from './voice.ts'
