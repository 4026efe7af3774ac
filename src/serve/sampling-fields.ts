import { z } from 'zod'
import type { Ask } from './ask.ts'

/** Fields that both APIs have; null means "not given". */
export const samplingFields = {
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().positive().max(1).nullish(),
  seed: z.number().int().nonnegative().nullish(),
  /** False: the chain is neither kept nor recorded. */
  store: z.boolean().nullish(),
  /** What OpenAI's API has no field for. */
  coa: z
    .looseObject({
      best_of: z.number().int().positive().nullish(),
      pick: z.enum(['majority', 'score', 'judge']).nullish(),
    })
    .nullish(),
}

const Sampling = z.looseObject(samplingFields)

export function samplingOf({
  temperature,
  top_p: topP,
  seed,
  store,
  coa,
}: z.infer<typeof Sampling>): Pick<Ask, 'temperature' | 'topP' | 'seed' | 'bestOf' | 'pick' | 'unrecorded'> {
  return {
    ...(temperature == null ? {} : { temperature }),
    ...(topP == null ? {} : { topP }),
    ...(seed == null ? {} : { seed }),
    ...(store === false ? { unrecorded: true } : {}),
    bestOf: coa?.best_of ?? 1,
    pick: coa?.pick ?? 'majority',
  }
}
