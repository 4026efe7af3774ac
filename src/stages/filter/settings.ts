import { z } from 'zod'
import { namesOrPaths, table, words } from '../../settings/index.ts'

const AgainstSource = z.strictObject({ from: z.string().min(1), split: z.enum(['train', 'dev', 'test']) })

/** What is worth learning. Limits of 0 are no limits. */
export const FilterSection = z
  .strictObject({
    /** Tool calls a sequence needs. */
    min_interactions: z.number().int().nonnegative().default(5),
    /** Other numbers for some suites, such as { math = 3 }. */
    min_interactions_by_suite: table(z.number().int().nonnegative()).default({}),
    /** How often one tool may be called with the same input. */
    max_same_call: z.number().int().positive().default(1),
    /** Leave out what came from a step that had seen the gold answer. */
    exclude_saw_gold: z.boolean().default(false),
    /** Agents whose words count as reflection. */
    reflection_agents: words().default(['reflection']),
    /** Grammars and suites in which a sequence without reflection is left out. */
    reflection_required: words().default(['code', 'math']),
    /** Elsewhere this share of those without is kept. */
    keep_unreflected: z.number().min(0).max(1).default(0.3),
    /** Agents that score a suggested answer. */
    check_agents: words().default(['double_check']),
    /** A first score up to this is low. */
    low_score: z.number().min(0).max(4).default(2),
    /** How often a sequence counts whose first score was low and whose answer is right. */
    correction_weight: z.number().int().positive().default(2),
    /** With language.tokenizer, prompt included. */
    max_tokens: z.number().int().nonnegative().default(32768),
    max_characters: z.number().int().nonnegative().default(0),
    /** Keep one of those that are alike. Holds some 1.4 kB for each sequence that passed all else. */
    near_duplicates: z.boolean().default(true),
    /** Jaccard likeness of the words from which two sequences are alike. */
    duplicate_likeness: z.number().min(0.3).max(1).default(0.8),
    /** Suites, benchmarks or files whose questions must not be trained on; a table names a split: { from = "gsm8k", split = "train" }. */
    against: namesOrPaths(z.union([z.string().min(1), AgainstSource])).default([]),
    /** How many questions of a generated suite. */
    against_count: z.number().int().positive().default(1000),
    /** Words in a row that are looked for in those questions. */
    overlap_words: z.number().int().positive().default(8),
    /** A question with this share of its runs of words in one of these sets is left out. */
    overlap_share: z.number().positive().max(1).default(0.5),
    /** Sequences that come from here are not looked at. */
    skip_origins: words().default(['example']),
  })
  .prefault({})
export type FilterSection = z.infer<typeof FilterSection>

/** "gsm8k:train", as on the command line, is the split named. */
export function sourceFromText(text: string): FilterSection['against'][number] {
  const [, from, split] = /^([\w-]+):(train|dev|test)$/.exec(text) ?? []
  return from === undefined ? text : { from, split: split as 'train' | 'dev' | 'test' }
}
