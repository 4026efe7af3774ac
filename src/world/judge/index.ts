/** A model that compares an answer with a reference answer, or attempts with each other, or scores a whole solution. */
export type { JudgeModel, JudgeOptions } from './ask.ts'
export { type JudgeCache, judgeKey } from './cache.ts'
export { fileJudgeCache } from './file-cache.ts'
export { groupJudgeFromSettings, judgeFromSettings, qualityJudgeFromSettings } from './from-settings.ts'
export type { GroupJudge } from './group.ts'
export { createJudge, type Judge } from './judge.ts'
export { type JudgeCase, type JudgePrompt, judgePrompt } from './prompt.ts'
export type { QualityJudge } from './quality.ts'
