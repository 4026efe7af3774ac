import { z } from 'zod'

/** An item of a request's input, as far as it is read. */
export const InputItem = z.looseObject({
  type: z.string().nullish(),
  role: z.enum(['system', 'developer', 'user', 'assistant']).nullish(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish(),
  id: z.string().nullish(),
  call_id: z.string().nullish(),
  output: z.unknown().optional(),
})
export type InputItem = z.infer<typeof InputItem>
