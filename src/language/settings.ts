import { z } from 'zod'
import { nameOrPath } from '../settings/index.ts'

export const LanguageSection = z
  .strictObject({
    /**
     * A grammar that comes with coa, or the path of a .toml or .ts file: for all tasks that name no other. Left out:
     * math and code for tasks checked in that way, multihop for other files, web for questions without a task.
     */
    grammar: nameOrPath().optional(),
    /** A folder with tokenizer.json, "student" for that of student.model, or "bytes" for one token a byte. */
    tokenizer: nameOrPath().default('bytes'),
  })
  .prefault({})
export type LanguageSection = z.infer<typeof LanguageSection>
