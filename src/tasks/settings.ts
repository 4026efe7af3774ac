import { z } from 'zod'
import type { LanguageSection } from '../language/settings.ts'
import { localFolder, namesOrPaths, type ProjectSection, table } from '../settings/index.ts'

/** Where tasks come from, with what a name alone does not say. */
const TaskSourceSection = z.strictObject({
  /** A suite, a pulled benchmark or a file. */
  from: z.string().min(1),
  /** Of a file: a benchmark, verl, plain or coa. Left out: told from its rows. */
  format: z.string().min(1).optional(),
  /** Which column of a file is which field, such as { question = "problem", answer = "gold" }. */
  map: z.record(z.string(), z.string().min(1)).optional(),
  /** How answers of a plain file are checked. Left out: told from the answers. */
  checker: z.enum(['exact', 'math', 'judge']).optional(),
  /** The grammar its tasks are solved in. */
  domain: z.string().min(1).optional(),
  /** The split of rows that name none. Left out: by the file's name, or else by a hash of the question. */
  split: z.enum(['train', 'dev', 'test']).optional(),
})

const level = z.number().int().nonnegative()

export const TasksSection = z
  .strictObject({
    /** Suites, pulled benchmarks or files to take tasks from: names, or tables that say more about them. */
    suites: namesOrPaths(z.union([z.string().min(1), TaskSourceSection]), 1).default([
      'math',
      'search',
      'code',
    ]),
    /** How many of each. */
    count: z.number().int().positive().default(10),
    /** How many of each, of split dev, training is measured with by rollouts; 0: not at all. */
    dev_count: z.number().int().nonnegative().default(0),
    /** How many of each, of split test, the quickstart holds team and models against each other with. */
    test_count: z.number().int().positive().default(100),
    /** Level of a suite, or lowest and highest, such as { math = 1, search = [2, 3] }. Left out: all. */
    levels: table(z.union([level, z.tuple([level, level])])).default({}),
    /** Folder of benchmarks fetched with `coa tasks pull`. */
    data: localFolder().default('.coa/benchmarks'),
  })
  .prefault({})
export type TasksSection = z.infer<typeof TasksSection>

/** What sources of tasks are read with. */
export interface TasksConfig {
  tasks: TasksSection
  project: ProjectSection
  language: LanguageSection
}
