import { z } from 'zod'
import { namesOrPaths } from '../../settings/index.ts'

const AgainstSource = z.strictObject({ from: z.string().min(1), split: z.enum(['train', 'dev', 'test']) })

/** Which questions must not be trained on, as part of the section `filter`. */
export const contaminationSettings = {
  /**
   * Suites, benchmarks or files whose questions must not be trained on; a table selects a split: { from = "gsm8k",
   * split = "train" }. Unset: the held-out tasks of the run and of the sources in [tasks].
   */
  against: namesOrPaths(z.union([z.string().min(1), AgainstSource])).optional(),
  /** Number of questions of a generated suite. */
  against_count: z.number().int().positive().default(1000),
  /** Words per n-gram when questions are compared. */
  overlap_words: z.number().int().positive().default(8),
  /** A question that shares at least this share of its n-grams with one of these is dropped. */
  overlap_share: z.number().positive().max(1).default(0.5),
  /** Compare questions that state quantities once more without their numbers and names, to find paraphrases. */
  paraphrases: z.boolean().default(true),
}
const Section = z.strictObject(contaminationSettings)
export type ContaminationSection = z.infer<typeof Section>

/** "gsm8k:train", as on the command line, names a split. */
export function sourceFromText(text: string): NonNullable<ContaminationSection['against']>[number] {
  const [, from, split] = /^([\w-]+):(train|dev|test)$/.exec(text) ?? []
  return from === undefined ? text : { from, split: split as 'train' | 'dev' | 'test' }
}
