import { z } from 'zod'

/** One tokenized training example. All arrays have one entry per token. */
export const Datum = z
  .object({
    v: z.literal(1),
    id: z.string().min(1),
    tokens: z.array(z.number().int().nonnegative()),
    /** Loss weight of predicting the token at this position; 0 for prompt and observation tokens. */
    weights: z.array(z.number()),
    /** Log-probability of the token when it was sampled; reinforcement learning only. */
    logprobs: z.array(z.number()).optional(),
    advantages: z.array(z.number()).optional(),
    groupId: z.string().optional(),
  })
  .refine(
    (datum) =>
      [datum.weights, datum.logprobs, datum.advantages].every(
        (array) => array === undefined || array.length === datum.tokens.length,
      ),
    { message: 'weights, logprobs and advantages need one entry for each token' },
  )
export type Datum = z.infer<typeof Datum>
