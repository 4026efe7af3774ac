import { join } from 'node:path'
import type { ProjectSection } from '../../settings/index.ts'
import { modelFromSettings, promptFunction } from '../models/index.ts'
import type { WorldConfig } from '../settings.ts'
import type { JudgeOptions } from './ask.ts'
import type { JudgeCache } from './cache.ts'
import { fileCache, fileJudgeCache } from './file-cache.ts'
import { createGroupJudge, type GroupJudge, GroupScores } from './group.ts'
import { createJudge, type Judge } from './judge.ts'
import { createQualityJudge, type QualityJudge, QualityScore } from './quality.ts'

type JudgeConfig = Pick<WorldConfig, 'judge' | 'tools'>
type Environment = Record<string, string | undefined>

/** The judge configured in the settings, or undefined if there is none. Its cache is kept with the tool cache. */
export function judgeFromSettings(config: JudgeConfig, environment: Environment): Judge | undefined {
  const options = optionsFrom(config, environment, 'judge.jsonl', fileJudgeCache)
  return options === undefined ? undefined : createJudge(options)
}

/** The same model as a judge of whole solutions, with a cache file of its own next to the other one. */
export function qualityJudgeFromSettings(
  config: JudgeConfig,
  environment: Environment,
): QualityJudge | undefined {
  const cacheIn = (file: string): JudgeCache<QualityScore> =>
    fileCache(file, (fields) => QualityScore.safeParse(fields).data)
  const options = optionsFrom(config, environment, 'quality.jsonl', cacheIn)
  return options === undefined ? undefined : createQualityJudge(options)
}

/** The same model as a judge that compares the attempts at one task, with a cache file of its own. */
export function groupJudgeFromSettings(
  config: JudgeConfig & { project: ProjectSection },
  environment: Environment,
): GroupJudge | undefined {
  const cacheIn = (file: string): JudgeCache<GroupScores> =>
    fileCache(file, (fields) => GroupScores.safeParse(fields).data)
  const options = optionsFrom(config, environment, 'relative.jsonl', cacheIn)
  return options === undefined ? undefined : createGroupJudge({ ...options, seed: config.project.seed })
}

function optionsFrom<Reply>(
  { judge, tools }: JudgeConfig,
  environment: Environment,
  file: string,
  cacheIn: (path: string) => JudgeCache<Reply>,
): JudgeOptions<Reply> | undefined {
  const model = modelFromSettings('judge', judge, environment)
  if (model === undefined) return undefined
  return {
    model: promptFunction(model),
    concurrency: judge.concurrency,
    modelName: `${model.name} at ${judge.base_url}`,
    ...(tools.cache === '' ? {} : { cache: cacheIn(join(tools.cache, file)) }),
  }
}
