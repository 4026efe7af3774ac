import { nearestName, UsageError } from '../../../base/errors/index.ts'
import type { Format } from '../format.ts'
import { axolotl } from './axolotl.ts'
import { llamaFactoryAlpaca } from './llama-factory-alpaca.ts'
import { llamaFactorySharegpt } from './llama-factory-sharegpt.ts'
import { openai } from './openai.ts'
import { tinker } from './tinker.ts'
import { trlMessages } from './trl-messages.ts'
import { trlTokens } from './trl-tokens.ts'
import { verlRl } from './verl-rl.ts'
import { verlSft } from './verl-sft.ts'

export const formats: readonly Format[] = [
  llamaFactorySharegpt,
  llamaFactoryAlpaca,
  trlMessages,
  trlTokens,
  verlSft,
  verlRl,
  axolotl,
  openai,
  tinker,
]

export function findFormat(name: string): Format {
  const format = formats.find((candidate) => candidate.name === name)
  if (format !== undefined) return format
  const names = formats.map((candidate) => candidate.name)
  const nearest = nearestName(name, names)
  throw new UsageError(`there is no export format "${name}"`, {
    fix: nearest === undefined ? `Choose from ${names.join(', ')}.` : `Did you mean "${nearest}"?`,
  })
}
