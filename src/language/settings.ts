import { z } from 'zod'
import { nameOrPath } from '../settings/index.ts'

export const LanguageSection = z
  .strictObject({
    /**
     * A built-in grammar, or the path of a .toml or .ts file, for all tasks that name no other. Unset: math and code
     * for tasks with such checkers, multihop for other files, web for questions without a task.
     */
    grammar: nameOrPath().optional(),
    /** A folder with tokenizer.json, "student" for that of student.model, or "bytes" for one token per byte. */
    tokenizer: nameOrPath().default('bytes'),
  })
  .prefault({})
export type LanguageSection = z.infer<typeof LanguageSection>
