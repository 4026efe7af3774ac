import { z } from 'zod'

/** Tokens of one model call or the total of several, counted with the student's tokenizer. */
export const Usage = z.object({
  promptTokens: z.number().int().nonnegative(),
  completionTokens: z.number().int().nonnegative(),
})
export type Usage = z.infer<typeof Usage>
