/** A model that compares an answer with a reference answer. */
export { type JudgeCache, judgeKey } from './cache.ts'
export { fileJudgeCache } from './file-cache.ts'
export { judgeFromSettings } from './from-settings.ts'
export { createJudge, type Judge, type JudgeModel, type JudgeOptions } from './judge.ts'
export { type JudgeCase, type JudgePrompt, judgePrompt } from './prompt.ts'
