import { join } from 'node:path'
import { modelFromSettings, promptFunction } from '../models/index.ts'
import type { WorldConfig } from '../settings.ts'
import { fileJudgeCache } from './file-cache.ts'
import { createJudge, type Judge } from './judge.ts'

/** The judge configured in the settings, or undefined if there is none. Its cache is kept with the tool cache. */
export function judgeFromSettings(
  { judge, tools }: Pick<WorldConfig, 'judge' | 'tools'>,
  environment: Record<string, string | undefined>,
): Judge | undefined {
  const model = modelFromSettings('judge', judge, environment)
  if (model === undefined) return undefined
  return createJudge({
    model: promptFunction(model),
    concurrency: judge.concurrency,
    modelName: `${model.name} at ${judge.base_url}`,
    ...(tools.cache === '' ? {} : { cache: fileJudgeCache(join(tools.cache, 'judge.jsonl')) }),
  })
}
