import { z } from 'zod'
import { type ProjectSection, table, words } from '../../settings/index.ts'
import { contaminationSettings } from '../../tasks/contamination/settings.ts'

/** Which sequences are trained on. A limit of 0 means no limit. */
export const FilterSection = z
  .strictObject({
    /** Minimum number of tool calls. By default, 5; in imported runs and with your own grammars 1, or 0 if none of them calls a tool. */
    min_interactions: z.number().int().nonnegative().optional(),
    /** Minimum for individual suites, such as { math = 3 }. */
    min_interactions_by_suite: table(z.number().int().nonnegative()).default({}),
    /** Drop sequences marked bad, and keep those marked good unless training on them would be wrong. */
    marks: z.boolean().default(true),
    /** What happens to sequences whose answer was never checked. By default, imported ones are kept if none of them has a verdict. */
    unchecked: z.enum(['drop', 'keep']).optional(),
    /** How often a tool may be called with the same input. */
    max_same_call: z.number().int().positive().default(1),
    /** Drop sequences with a step that had seen the gold answer. */
    exclude_saw_gold: z.boolean().default(false),
    /** Drop sequences in which the checker told the team that a suggested answer is not correct. */
    exclude_verdicts: z.boolean().default(false),
    /** Drop sequences that still address or mention teammates, or a hint that a single agent does not have. */
    voice: z.boolean().default(true),
    /** Agents whose text counts as reflection. */
    reflection_agents: words().default(['reflection']),
    /** Grammars and suites in which sequences without reflection are dropped. */
    reflection_required: words().default(['code', 'math']),
    /** Share of sequences without reflection that is kept elsewhere. */
    keep_unreflected: z.number().min(0).max(1).default(0.3),
    /** If a smaller share of the sequences of a grammar reflects, none of them is dropped for not being in that sample. */
    min_reflecting: z.number().min(0).max(1).default(0.05),
    /** Agents that score a suggested answer. */
    check_agents: words().default(['double_check']),
    /** Scores up to this count as low. */
    low_score: z.number().min(0).max(4).default(2),
    /** Weight of a sequence whose first score was low and whose answer is correct. */
    correction_weight: z.number().int().positive().default(2),
    /** Maximum length, prompt included, measured with language.tokenizer. */
    max_tokens: z.number().int().nonnegative().default(32768),
    max_characters: z.number().int().nonnegative().default(0),
    /** Have the [judge] model score each sequence that passed the filters above, from 1 to 5. */
    judge: z.boolean().default(false),
    /** Sequences with a lower score are dropped. */
    judge_min: z.number().int().min(1).max(5).default(3),
    /** What happens to sequences that the judge could not score; they are counted either way. */
    judge_undecided: z.enum(['keep', 'drop']).default('keep'),
    /** Keep one of several near-duplicates. Takes about 1.4 kB per sequence that passed all other filters. */
    near_duplicates: z.boolean().default(true),
    /** Jaccard similarity from which two sequences count as near-duplicates. */
    duplicate_likeness: z.number().min(0.3).max(1).default(0.8),
    /** How many sequences of one task are kept: those with the highest weight and score, then the shortest. 0: all. */
    per_task: z.number().int().nonnegative().default(0),
    ...contaminationSettings,
    /** Origins of sequences that are skipped. */
    skip_origins: words().default(['example']),
  })
  .prefault({})
export type FilterSection = z.infer<typeof FilterSection>

/** The settings with the seed of the project. */
export interface GivenSettings extends FilterSection {
  seed: number
}

/** The settings as they apply to the sequences of one grammar; see `defaults.ts`. */
export interface FilterSettings extends GivenSettings {
  min_interactions: number
  unchecked: 'drop' | 'keep'
}

export function filterSettings(config: { filter: FilterSection; project: ProjectSection }): GivenSettings {
  return { ...config.filter, seed: config.project.seed }
}
